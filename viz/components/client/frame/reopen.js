// Open an address of this server, in place of the page that is shown.

const EMBED = ["embed", "embed_options"]; // Streamlit's own: the app is not told of them, and they stay

export default function ({ data }) {
  const address = new URL(data.address, location.origin);
  for (const [name, value] of new URLSearchParams(location.search))
    if (EMBED.includes(name)) address.searchParams.append(name, value);
  if (address.origin === location.origin) location.replace(address.href);
}

// Open an address of this server, in place of the page that is shown.

export default function ({ data }) {
  const address = new URL(data.address, location.origin);
  if (address.origin === location.origin) location.replace(address.href);
}

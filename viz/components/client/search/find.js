// @ts-check
// The search's numbers and letters: a file of its own, which comes when somebody searches for the first time.

import { Ranking } from "./ranking.js";

/** @param {{data: {entries: any[]}}} sent */
export default ({ data }) => new Ranking(data.entries);

// The token of a mailed link stands behind the number sign, which browsers send to no server.

/** The token of the address, which forgets it: it must not stay in the history of the browser. */
export function takeToken(): string {
  const token = location.hash.slice(1);
  history.replaceState(history.state, '', location.pathname);
  return token;
}

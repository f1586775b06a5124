// Where a person was last: the organisation and environment that `/` leads to. Kept in this browser alone.
import type { Session } from '../api/session.ts';

const STORE = 'svc.place';

interface Place {
  readonly org: string;
  readonly env: string;
}

export function rememberPlace(place: Place): void {
  try {
    localStorage.setItem(STORE, JSON.stringify({ org: place.org, env: place.env }));
  } catch {
    // Where the browser stores nothing, `/` leads to the first organisation.
  }
}

/** The last place if it is still the person's, else the organisation entered last; null without one. */
export function startPlace(session: Session): Place | null {
  const first = session.orgs.find(({ id }) => id === session.org_id) ?? session.orgs[0];
  if (first === undefined) return null;
  try {
    const last = JSON.parse(localStorage.getItem(STORE) ?? 'null') as Place | null;
    if (last !== null && session.orgs.some(({ slug }) => slug === last.org)) return last;
  } catch {
    // An unreadable value counts as none.
  }
  return { org: first.slug, env: 'live' };
}

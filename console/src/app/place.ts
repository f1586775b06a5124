// What this browser remembers, and nobody else: the organisation and environment that `/` leads to, and the announcements that
// were put away.
import type { Session } from '../api/session.ts';

const STORE = 'svc.place';
const PUT_AWAY = 'svc.announcements';
/** Announcements that are remembered as put away; older ones have ended. */
const PUT_AWAY_MAX = 50;

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

/** Ids of announcements that were put away. */
export function readPutAway(): readonly string[] {
  try {
    const ids: unknown = JSON.parse(localStorage.getItem(PUT_AWAY) ?? '[]');
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** The newest stand first. */
export function rememberPutAway(ids: readonly string[]): void {
  try {
    localStorage.setItem(PUT_AWAY, JSON.stringify(ids.slice(0, PUT_AWAY_MAX)));
  } catch {
    // Where the browser stores nothing, they come back with the next load of the page.
  }
}

// The organisation and environment that the address names, for everything inside the shell.
import { createContext, use } from 'react';
import type { Org } from '../api/session.ts';

/** As it stands in the address; the API says TEST for the sandbox. */
export type Env = 'live' | 'sandbox';

export interface OrgPlace extends Org {
  readonly env: Env;
  readonly environment: 'LIVE' | 'TEST';
}

const Place = createContext<OrgPlace | null>(null);
export const OrgProvider = Place;

/** @throws Error outside the shell, which is a defect. */
export function useOrg(): OrgPlace {
  const place = use(Place);
  if (place === null) throw new Error('used outside an organisation');
  return place;
}

/** Whether the role may make and revoke keys, change policies, run evaluations, and move money. */
export function may(role: Org['role'], what: 'keys' | 'money' | 'policies' | 'evals'): boolean {
  const allowed = {
    keys: ['owner', 'admin', 'developer'],
    policies: ['owner', 'admin', 'developer'],
    evals: ['owner', 'admin', 'developer'],
    money: ['owner', 'admin', 'billing'],
  } as const;
  return (allowed[what] as readonly string[]).includes(role);
}

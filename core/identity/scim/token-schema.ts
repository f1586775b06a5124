// Wire shape of a token of a directory.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, Time } from '../../kernel/index.ts';
import type { ScimToken } from './token-store.ts';

export const ScimTokenView = named(
  'ScimToken',
  Type.Object({
    id: idOf('scim_token'),
    hint: Type.String({ description: 'the last four characters of the token' }),
    created_at: Time,
    last_used_at: nullable(Time),
  }),
);
export type ScimTokenView = Static<typeof ScimTokenView>;

export const scimTokenExample: ScimTokenView = {
  id: 'scim_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  hint: '...k9J2',
  created_at: '2026-11-21T10:00:00.000Z',
  last_used_at: null,
};

/** A token on the wire. */
export function viewToken({ id, hint, created_at, last_used_at }: ScimToken): ScimTokenView {
  return {
    ...{ id, hint, created_at: created_at.toISOString() },
    last_used_at: last_used_at?.toISOString() ?? null,
  };
}

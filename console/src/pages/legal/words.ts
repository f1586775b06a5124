// How a legal document stands, in words.
import type { LegalRowFragment } from '../../api/gen/graphql.ts';
import type { Tone } from '../../ui/status.tsx';

type Row = Pick<LegalRowFragment, 'outstanding' | 'acceptedAt' | 'requiresAcceptance' | 'effectiveAt'>;

/** The state of a document at `now_ms`. */
export function standing(row: Row, now_ms: number): { readonly tone: Tone; readonly word: string } {
  if (row.outstanding) return { tone: 'warn', word: 'waits to be accepted' };
  if (row.acceptedAt !== null && row.acceptedAt !== undefined) return { tone: 'ok', word: 'accepted' };
  if (Date.parse(row.effectiveAt) > now_ms) return { tone: 'mute', word: 'comes' };
  return { tone: 'mute', word: row.requiresAcceptance ? 'covered by a later acceptance' : 'for information' };
}

/** Whether somebody can accept it now: it waits, or it comes and will ask for it. */
export function isAcceptable(row: Row, now_ms: number): boolean {
  const comes = Date.parse(row.effectiveAt) > now_ms;
  return row.outstanding || (comes && row.requiresAcceptance && row.acceptedAt == null);
}

// The form of the deltas of one text: later ones are recognised by their bytes and not parsed.
import type { JsonObject } from '../../../../kernel/index.ts';
import { own } from '../../../wire/frames.ts';
import { memberOf, scanObject } from '../../../wire/scan.ts';
import type { DeltaForm, Grown, OpenItem } from './open.ts';

/** A delta of the open text: its bytes before the number, and from there to the text. */
export interface Learnt {
  readonly head: Buffer;
  readonly middle: Buffer;
  readonly item: OpenItem;
  readonly text: Grown;
}

/** The form of the delta at `from`, where its number stands before its text; null where it does not. */
export function learn(
  b: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
  data: JsonObject,
  { form: { kind, place }, item }: { readonly form: DeltaForm; readonly item: OpenItem },
): Learnt | null {
  const start = b.indexOf('{', from);
  const top = start < 0 || start > to ? null : scanObject(b, start);
  if (top === null) return null;
  const number = memberOf(top, 'sequence_number');
  const delta = memberOf(top, 'delta');
  if (number === undefined || delta === undefined || number.to > delta.from) return null;
  const at = place !== null && typeof data[place] === 'number' ? data[place] : 0;
  return {
    head: own(b.subarray(from, number.from)),
    middle: own(b.subarray(number.to, delta.from + 1)),
    item,
    text: item.textOf(kind, at),
  };
}

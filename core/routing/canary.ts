// Which side of a canary a call is on (docs/policies.md#canaries). A hash of the request id decides, so that equal calls
// are spread by chance alone, and every gateway comes to the same side without asking anybody.
import { sha256 } from '../kernel/index.ts';
import { type Ruling, SHARES, shareOf } from '../policies/index.ts';

export const arms = ['canary', 'control'] as const;

/** The canary of a call's policy; `arm` null: it gets no calls any more. */
export interface Trial {
  readonly endpoint_id: string;
  readonly arm: (typeof arms)[number] | null;
}

/** The part of a call in a canary: both sides could have served it, and this one was chosen. */
export interface TakenPart {
  readonly endpoint_id: string;
  readonly arm: (typeof arms)[number];
}

/** The part of the call `input` that was put on the side `arm`. */
export function takenPart({ trial }: { readonly trial?: Trial }, arm: TakenPart['arm']): TakenPart | null {
  return trial === undefined ? null : { endpoint_id: trial.endpoint_id, arm };
}

/** 0 to 9,999, evenly over request ids and anew for each version and rule. */
function bucketOf({ policy, version, rule }: Ruling, request_id: string): number {
  return sha256(`${policy}\n${version}\n${rule}\n${request_id}`).readUInt32BE(0) % SHARES;
}

/** The canary that `ruling` asks for; null where it asks for none. */
export function trialOf(ruling: Ruling, request_id: string): Trial | null {
  const { canary } = ruling.actions;
  if (canary === undefined) return null;
  const share = shareOf(canary.percent);
  if (share === 0) return { endpoint_id: canary.endpoint, arm: null };
  const arm = bucketOf(ruling, request_id) < share ? 'canary' : 'control';
  return { endpoint_id: canary.endpoint, arm };
}

// The raw lane: a response on an endpoint of the same format. The bytes are passed on; only the gateway's fields are
// rewritten.
import type { RawLane } from '../../../canonical/contract.ts';
import { ResponsesRelay } from './relay.ts';
import { rawRequest } from './request.ts';
import { rawWhole } from './whole.ts';

/** Responses on `openai_responses`. */
export const rawResponses: RawLane = {
  dialect: 'responses',
  family: 'openai_responses',
  request: rawRequest,
  whole: rawWhole,
  relay: (meta, _request, target) => new ResponsesRelay(meta, target),
};

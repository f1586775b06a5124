// The entry point: a request becomes a call, or joins the call that it is a retry of. Everything after that happens
// in callbacks, while the call passes through its stages: admitting, trying, streaming or draining, settling.
import { awaitedMs, PatientSink } from './answer/comeback.ts';
import { Admitting } from './stages/admitting.ts';
import { Call } from './stages/call.ts';
import type { CallDeps, Incoming, Sink } from './types.ts';

/** Runs one call; returns at once. */
export function startCall(deps: CallDeps, incoming: Incoming, sink: Sink): void {
  const earlier = deps.drained.take(incoming);
  const patient = awaitedMs(incoming.headers) > 0 ? new PatientSink(deps.drained, incoming, sink) : null;
  if (earlier !== null) {
    // The call that it joins has its own place under the limits.
    incoming.place.leave();
    return earlier.reattach(patient ?? sink);
  }
  const call = new Call(deps, incoming, patient ?? sink);
  if (patient !== null) patient.asked = () => call.asked;
  void new Admitting(call, incoming).begin();
}

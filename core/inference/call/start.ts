// The way in: a request becomes a call, or joins the one it is a retry of.
import { Call } from './call.ts';
import type { CallDeps, Incoming, Sink } from './types.ts';

/** Runs one call; returns at once, everything else happens in callbacks. */
export function startCall(deps: CallDeps, incoming: Incoming, sink: Sink): void {
  const earlier = deps.drained.take(incoming);
  if (earlier !== null) {
    // The call it joins has a place of its own.
    incoming.place.leave();
    return earlier.reattach(sink);
  }
  void new Call(deps, incoming, sink).begin();
}

// The state that a relay reports to the call. It is derived from events in one place, so that it means the same in
// both lanes.
import type { RelayState } from './contract.ts';
import type { CanonicalEvent } from './types.ts';

/** A state before the first byte. */
export function newRelayState(): RelayState {
  return {
    semantic: false,
    output_bytes: 0,
    content_events: 0,
    tool_calls: 0,
    usage: null,
    early_usage: null,
    stop: null,
    finished: false,
    fault: null,
    service_tier: null,
    upstream_id: null,
  };
}

/** Keeps a RelayState up to date from canonical events. */
export class EventTracker {
  readonly state = newRelayState();
  /** Candidates that have begun and not stopped: an answer is complete only when all of them have stopped. */
  readonly #open = new Set<number>();

  /** Takes account of one event. After a fault, events are ignored. */
  see(event: CanonicalEvent): void {
    const { state } = this;
    if (state.fault !== null) return;
    switch (event.type) {
      case 'start':
        if (event.usage !== undefined) state.early_usage = event.usage;
        if (event.service_tier !== undefined) state.service_tier = event.service_tier;
        state.upstream_id = event.upstream_id ?? null;
        break;
      case 'part_start':
        this.#begin(event.candidate);
        this.#count(event.content.type === 'reasoning' && event.content.data !== undefined, 0);
        if ('text' in event.content) this.#count(event.content.text !== '', byteLength(event.content.text));
        if (event.content.type === 'tool_call') {
          state.tool_calls++;
          this.#count(true, byteLength(event.content.arguments));
        }
        if (event.content.type === 'image' || event.content.type === 'server_tool') this.#count(true, 0);
        break;
      case 'part_delta':
        this.#count(true, byteLength(event.text) + byteLength(event.arguments));
        break;
      case 'stop':
        state.semantic = true;
        this.#open.delete(event.candidate);
        state.stop = this.#open.size === 0 ? event.stop : null;
        break;
      case 'usage':
        state.usage = event.usage;
        if (event.service_tier !== undefined) state.service_tier = event.service_tier;
        break;
      case 'finish':
        state.finished = true;
        break;
      case 'error':
        state.fault = event.fault;
        break;
      case 'part_stop':
        break;
    }
  }

  #begin(candidate: number): void {
    this.#open.add(candidate);
    this.state.stop = null;
  }

  #count(semantic: boolean, bytes: number): void {
    if (semantic) this.state.semantic = true;
    if (bytes === 0) return;
    this.state.output_bytes += bytes;
    this.state.content_events++;
  }
}

function byteLength(text: string | undefined): number {
  return text === undefined || text === '' ? 0 : Buffer.byteLength(text);
}

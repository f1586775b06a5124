// A provider that answers inside this process, behind the interface of an HTTP exchange, so that calls treat it like any
// other. The sandbox is one.
import type { Exchange, ExchangeHandler } from './exchange.ts';

export interface InProcessCall {
  /** The body that the adapter of its format wrote. */
  readonly body: Buffer;
  /** Number of this attempt within its call, from 1. */
  readonly attempt: number;
  /** Organization that calls: what one has cached is not shown to another. */
  readonly org_id: string;
  /** Epoch milliseconds for the expiry of cached prompts; default: the kernel's clock. */
  readonly now_ms?: number;
}

/** Starts a call. The methods of `handler` are called in later turns of the event loop. */
export type InProcessUpstream = (call: InProcessCall, handler: ExchangeHandler) => Exchange;

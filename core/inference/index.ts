export { Call, startCall } from './call/call.ts';
export { lostRow, rowOf } from './call/row.ts';
export { createTicker, type Ticker } from './call/ticker.ts';
export type { AttemptRecord, CallDeps, CallRecord, Incoming, Sink } from './call/types.ts';
export type { Adapter, Dialect, RawLane } from './canonical/contract.ts';
export { adapters, dialects, rawLanes } from './families.ts';
export { createSandboxUpstream } from './providers/sandbox/index.ts';
export { createCredentials } from './upstream/credentials.ts';
export { createTransport } from './upstream/exchange.ts';

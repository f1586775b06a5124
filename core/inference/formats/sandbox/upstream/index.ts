export { sandboxAdapter } from './adapter.ts';
export { createSandboxUpstream } from './upstream.ts';

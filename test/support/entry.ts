// How the gateway is started, for code that must not import the product to know it.

/** The gateway program. */
export const ENTRY = new URL('../../gateway/main.ts', import.meta.url).pathname;
/** The flags that the product's own starters use. Memory figures and tests use the same. */
export const NODE_FLAGS = [
  '--max-semi-space-size=16',
  '--no-allocation-site-pretenuring',
  '--v8-pool-size=0',
] as const;

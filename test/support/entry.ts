// How the gateway is started, for those who must not load the product to know it.

/** The program itself. */
export const ENTRY = new URL('../../gateway/main.ts', import.meta.url).pathname;
/** The flag that the product's own starters use; memory figures and tests run with the same. */
export const NODE_FLAGS = ['--max-semi-space-size=16', '--no-allocation-site-pretenuring'] as const;

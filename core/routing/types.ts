// What a caller, a key and a policy may wish of the route.

/** `svc.route` of 4.1, also the header `x-svc-route`; meanings of 4.9.1. */
export interface RouteWish {
  sort?: 'price' | 'latency' | 'throughput';
  fallbacks?: boolean;
  fallback_models?: string[];
  providers?: { order?: string[]; only?: string[]; ignore?: string[] };
  endpoints?: { order?: string[]; only?: string[]; ignore?: string[] };
  require?: {
    zdr?: boolean;
    no_train?: boolean;
    regions?: string[];
    max_retention_days?: number;
    /** Decimal USD per million tokens (`input`, `output`) and per call (`request`). */
    max_price?: { input?: number; output?: number; request?: number };
    quantizations?: string[];
    capabilities?: string[];
    /** Exclude every endpoint on which a parameter would be lost. */
    parameters?: boolean;
  };
  data_policy?: 'no_train' | 'zdr';
  affinity?: 'off' | 'key' | 'user' | 'session' | 'prefix';
  byok?: 'prefer' | 'only' | 'never';
  max_attempts?: number;
  timeouts?: { connect_ms?: number; first_event_ms?: number; idle_ms?: number; total_ms?: number };
}

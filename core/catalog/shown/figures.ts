// How models and endpoints did lately, as everybody may know it. Who counts the calls stands below the catalog and gives it the
// figures; a program that nobody gives any shows none.
import type { Context } from '../../kernel/index.ts';

/** Of one endpoint over 30 days. null: not enough attempts to say. */
export interface EndpointFigures {
  readonly attempts_30d: number;
  /** A fraction: attempts that went well of those that the caller did not spoil or leave. */
  readonly uptime_30d: number | null;
  readonly ttft_p50_ms: number | null;
  readonly ttft_p95_ms: number | null;
  /** Lately it fails more than it should. */
  readonly degraded: boolean;
}

/** Of one model. null: not enough attempts, or not enough organizations, to say. */
export interface ModelFigures {
  readonly uptime_30d: number | null;
  readonly ttft_p50_ms: number | null;
  /** Time from one token of an answer to the next. */
  readonly tpot_p50_ms: number | null;
  readonly requests_7d: number | null;
}

export interface Figures {
  readonly endpoints: ReadonlyMap<string, EndpointFigures>;
  readonly models: ReadonlyMap<string, ModelFigures>;
}

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    /** The figures as they were last published; absent in programs that have none. */
    readonly figures?: (context: Context) => Promise<Figures>;
  }
}

const NONE: Figures = { endpoints: new Map(), models: new Map() };

/** The figures to show to the caller of `context`: sandbox models have none. */
export async function figuresOf(context: Context): Promise<Figures> {
  const { caller, services } = context;
  const is_sandbox = (caller.kind === 'key' || caller.kind === 'session') && caller.environment === 'test';
  return is_sandbox ? NONE : ((await services.figures?.(context)) ?? NONE);
}

// Metrics of the operator, and the words it uses for them.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type AccessObject, accessConditions } from './access/types.ts';
import { type ConditionType, conditionOf, conditionTypes, type RoutingPolicy } from './types.ts';

/** Calls of the policy REST. */
export interface ServiceMetrics {
  called(call: string, outcome: string): void;
}

export interface OperatorMetrics extends ServiceMetrics {
  readonly registry: Registry;
  /** A reconcile ended: `settled`, `waiting` (back-off), `released`, `conflict` or `failed`, after `seconds`. */
  reconciled(result: string, seconds: number): void;
  statusWritten(): void;
  relisted(): void;
}

/** What the metrics ask when they are read. */
interface MetricSources {
  queueDepth(): number;
  isLeading(): boolean;
  objects(): Iterable<RoutingPolicy>;
  accessObjects(): Iterable<AccessObject>;
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    collect() {
      this.set(read());
    },
  });
}

/** The metrics of one process, in a registry of their own. */
export function openMetrics(sources: MetricSources): OperatorMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const total = new Counter({
    name: 'svc_operator_reconcile_total',
    help: 'Reconciles by result: settled, waiting, released, conflict, failed',
    ...{ labelNames: ['result'], registers },
  });
  const errors = new Counter({
    ...{ name: 'svc_operator_reconcile_errors_total', help: 'Reconciles that failed or wait', registers },
  });
  const seconds = new Histogram({
    ...{ name: 'svc_operator_reconcile_seconds', help: 'Duration of reconciles', registers },
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const calls = new Counter({
    name: 'svc_operator_service_calls_total',
    help: 'Requests to the policy API by call and outcome',
    ...{ labelNames: ['call', 'outcome'], registers },
  });
  const writes = new Counter({
    ...{ name: 'svc_operator_status_writes_total', help: 'Status writes', registers },
  });
  const relists = new Counter({
    ...{ name: 'svc_operator_relist_total', help: 'New lists after a broken watch', registers },
  });
  gauge(registry, 'svc_operator_queue_depth', 'Objects ready to be reconciled', sources.queueDepth);
  gauge(registry, 'svc_operator_leading', '1 in the process that leads', () => Number(sources.isLeading()));
  new Gauge({
    name: 'svc_operator_conditions_not_true',
    help: 'Objects whose condition is not True, by condition',
    ...{ labelNames: ['condition'], registers },
    collect() {
      for (const type of conditionTypes) this.set({ condition: type }, 0);
      const count = (object: RoutingPolicy | AccessObject, types: readonly ConditionType[]) => {
        for (const type of types) {
          if (conditionOf(object, type)?.status !== 'True') this.inc({ condition: type });
        }
      };
      for (const object of sources.objects()) count(object, conditionTypes);
      for (const object of sources.accessObjects()) count(object, accessConditions);
    },
  });
  return {
    registry,
    called: (call, outcome) => calls.inc({ call, outcome }),
    reconciled(result, took_seconds) {
      total.inc({ result });
      seconds.observe(took_seconds);
      if (result === 'failed' || result === 'waiting') errors.inc();
    },
    statusWritten: () => writes.inc(),
    relisted: () => relists.inc(),
  };
}

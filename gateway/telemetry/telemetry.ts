// Sends traces and metrics to a collector by OTLP over HTTP; off unless an address is configured. Everything is made
// after a call has ended and waits in bounded queues, so a collector that is slow or unreachable costs spans, never a
// call.
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Provider } from '@svc/core/catalog/index.ts';
import type { AttemptRecord, CallRecord } from '@svc/core/inference/index.ts';
import type { Log } from '@svc/core/kernel/index.ts';
import { countInto } from './figures.ts';
import { type Address, addressOf, SCHEMA_URL, SCOPE } from './names.ts';
import { traceCall } from './spans.ts';

export interface Telemetry {
  /** Records an ended call. Never throws and never waits. */
  call(record: CallRecord): void;
  /** Sends what is still queued, for at most two seconds. */
  close(): Promise<void>;
}

const QUEUE_SPANS = 4_096;
/** Serialising this many spans as JSON takes about a millisecond. */
const BATCH_SPANS = 128;
const TRACES_EVERY_MS = 1_000;
const METRICS_EVERY_MS = 15_000;
const EXPORT_MS = 5_000;
const CLOSE_MS = 2_000;
/** Most attribute sets per metric; further ones are counted together. */
const SERIES_MAX = 2_000;

interface Result {
  readonly code: number;
}

/**
 * `exporter`, logging to `log` when the collector is lost and when it answers again: once each, not for every batch.
 */
function watched<T extends SpanExporter | PushMetricExporter>(exporter: T, signal: string, log: Log): T {
  const send = exporter.export.bind(exporter) as (items: unknown, done: (result: Result) => void) => void;
  let lost = false;
  exporter.export = (items: unknown, done: (result: Result) => void) => {
    send(items, (result) => {
      if ((result.code !== 0) !== lost) {
        lost = !lost;
        if (lost) log.warn({ signal }, 'telemetry cannot be sent; it is dropped until the collector answers');
        else log.info({ signal }, 'telemetry is sent again');
      }
      done(result);
    });
  };
  return exporter;
}

interface TelemetryOptions {
  /** Base address of the collector, `http://host:4318`. */
  readonly endpoint: string;
  /** Percentage of calls that are traced, among those whose caller names no trace. */
  readonly sample_percent: number;
  readonly process_name: string;
  readonly cell: string;
  readonly log: Log;
  provider(attempt: AttemptRecord['endpoint']): Provider | undefined;
}

function openTracers(resource: Resource, exporter: SpanExporter, sample_percent: number): TracerProvider {
  return new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample_percent / 100) }),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_SPANS,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: TRACES_EVERY_MS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
}

function openMeters(resource: Resource, exporter: PushMetricExporter): MeterProvider {
  return new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: METRICS_EVERY_MS,
        exportTimeoutMillis: EXPORT_MS,
        cardinalityLimits: { default: SERIES_MAX },
      }),
    ],
  });
}

/** Finds the address of the provider of an attempt, computed once per provider. */
function addressBook(providerOf: TelemetryOptions['provider']): (attempt: AttemptRecord) => Address {
  const addresses = new Map<Provider | undefined, Address>();
  return ({ endpoint }) => {
    const provider = providerOf(endpoint);
    let address = addresses.get(provider);
    if (address === undefined) {
      // A new snapshot of the catalog has new provider objects.
      if (addresses.size > 1_000) addresses.clear();
      address = addressOf(provider);
      addresses.set(provider, address);
    }
    return address;
  };
}

/** Resolves when all of `ended` have settled, or after `ms`. */
async function settledWithin(ms: number, ended: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => {
    timer = setTimeout(done, ms);
  });
  await Promise.race([Promise.allSettled(ended), late]);
  clearTimeout(timer);
}

/** Starts sending to `endpoint`. */
export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { endpoint, log, process_name, cell } = options;
  const base = endpoint.replace(/\/+$/, '');
  const resource = resourceFromAttributes({
    'service.name': 'svc-gateway',
    'service.namespace': 'svc',
    'service.instance.id': process_name,
    'svc.cell': cell,
  });
  const common = { timeoutMillis: EXPORT_MS, concurrencyLimit: 4 };
  const spans = watched(new OTLPTraceExporter({ url: `${base}/v1/traces`, ...common }), 'traces', log);
  const figures = watched(new OTLPMetricExporter({ url: `${base}/v1/metrics`, ...common }), 'metrics', log);
  const tracers = openTracers(resource, spans, options.sample_percent);
  const meters = openMeters(resource, figures);
  const whereIs = addressBook(options.provider);
  const tracer = tracers.getTracer(SCOPE, undefined, { schemaUrl: SCHEMA_URL });
  const count = countInto(meters.getMeter(SCOPE, undefined, { schemaUrl: SCHEMA_URL }), whereIs);
  return {
    call(record) {
      try {
        traceCall(tracer, record, whereIs);
        count(record);
      } catch (error) {
        log.error({ request_id: record.request_id, error }, 'telemetry of a call failed');
      }
    },
    close: () => settledWithin(CLOSE_MS, [tracers.shutdown(), meters.shutdown()]),
  };
}

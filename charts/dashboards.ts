// The Grafana dashboards of the chart, `svc/files/dashboards/*.json`: `node charts/dashboards.ts` writes them, a test
// compares. A panel is a title, a unit and expressions with their legends.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Panel {
  readonly title: string;
  /** A unit of Grafana. */
  readonly unit: 'percentunit' | 'reqps' | 's' | 'short' | 'currencyUSD';
  /** Legend → expression. */
  readonly series: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly file: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const rate = (metric: string, by = '') =>
  `sum${by === '' ? '' : ` by (${by})`} (rate(${metric}[$__rate_interval]))`;
const quantile = (share: number, metric: string, by: string) =>
  `histogram_quantile(${share}, ${rate(`${metric}_bucket`, by === '' ? 'le' : `le, ${by}`)})`;

const calls: Dashboard = {
  file: 'svc-calls',
  title: 'svc / Calls',
  panels: [
    { title: 'Calls', unit: 'reqps', series: { '{{status}}': rate('svc_calls_total', 'status') } },
    {
      title: 'Calls that failed through no fault of their callers',
      unit: 'percentunit',
      series: {
        failed: `${rate('svc_calls_total{status="error"}')} / ${rate('svc_calls_total{status!="rejected"}')}`,
      },
    },
    {
      title: 'Refused and failed calls by code',
      unit: 'reqps',
      series: { '{{error_code}}': rate('svc_calls_total{error_code!=""}', 'error_code') },
    },
    {
      title: 'Time to first token',
      unit: 's',
      series: {
        '{{provider}} p50': quantile(0.5, 'svc_call_time_to_first_token_seconds', 'provider'),
        '{{provider}} p95': quantile(0.95, 'svc_call_time_to_first_token_seconds', 'provider'),
      },
    },
    {
      title: 'Time that the gateway adds',
      unit: 's',
      series: {
        p50: quantile(0.5, 'svc_call_overhead_seconds', ''),
        p99: quantile(0.99, 'svc_call_overhead_seconds', ''),
      },
    },
    { title: 'Calls under way', unit: 'short', series: { '{{instance}}': 'svc_calls_running' } },
    {
      title: 'Attempts that failed, by provider',
      unit: 'percentunit',
      series: {
        '{{provider}}': `${rate('svc_attempts_total{own_key="false", outcome=~"error|timeout"}', 'provider')} / ${rate('svc_attempts_total{own_key="false"}', 'provider')}`,
      },
    },
    {
      title: 'Answers of providers by status',
      unit: 'reqps',
      series: { '{{provider}} {{status}}': rate('svc_upstream_responses_total', 'provider, status') },
    },
    {
      title: 'Failovers',
      unit: 'reqps',
      series: { '{{provider}} {{error_class}}': rate('svc_failovers_total', 'provider, error_class') },
    },
    {
      title: 'Open circuits and resting keys',
      unit: 'short',
      series: {
        'circuit of {{endpoint_id}}': 'max by (endpoint_id) (svc_circuits_open)',
        'keys of {{provider}}': 'max by (provider) (svc_provider_keys_resting)',
      },
    },
    {
      title: 'Tokens a second',
      unit: 'short',
      series: { '{{provider}} {{direction}}': rate('svc_call_tokens_total', 'provider, direction') },
    },
    {
      title: 'Charged an hour',
      unit: 'currencyUSD',
      series: {
        '{{environment}}': `${rate('svc_call_charged_micro_usd_total', 'environment')} * 3600 / 1e6`,
      },
    },
  ],
};

const platform: Dashboard = {
  file: 'svc-platform',
  title: 'svc / Ledger and platform',
  panels: [
    {
      title: 'From the end of a call to its settle',
      unit: 's',
      series: {
        '{{shard}} p50': quantile(0.5, 'svc_settle_delay_seconds', 'shard'),
        '{{shard}} p99': quantile(0.99, 'svc_settle_delay_seconds', 'shard'),
      },
    },
    {
      title: 'Settles that wait',
      unit: 'short',
      series: {
        'for PostgreSQL': 'sum(svc_settles_pending)',
        'on disk, {{shard}}': 'sum by (shard) (svc_settles_journaled)',
      },
    },
    {
      title: 'Items in a batch',
      unit: 'short',
      series: {
        '{{shard}} {{batcher}}': `${rate('svc_ledger_batch_items_total', 'shard, batcher')} / ${rate('svc_ledger_batches_total', 'shard, batcher')}`,
      },
    },
    {
      title: 'Connections to PostgreSQL',
      unit: 'short',
      series: { '{{state}}': 'sum by (state) (svc_database_connections)' },
    },
    {
      title: 'Lateness of the event loop (p99)',
      unit: 's',
      series: { '{{instance}}': 'nodejs_eventloop_lag_p99_seconds' },
    },
    {
      title: 'Processor time',
      unit: 'percentunit',
      series: { '{{instance}}': 'rate(process_cpu_seconds_total[$__rate_interval])' },
    },
    { title: 'Memory', unit: 'short', series: { '{{instance}}': 'process_resident_memory_bytes' } },
    {
      title: 'Facts that wait for webhooks',
      unit: 's',
      series: { oldest: 'max(svc_outbox_oldest_seconds)' },
    },
    {
      title: 'Webhooks by outcome',
      unit: 'reqps',
      series: { '{{outcome}}': rate('svc_webhook_attempts_total', 'outcome') },
    },
    {
      title: 'Jobs that failed',
      unit: 'reqps',
      series: { '{{name}}': rate('svc_job_failures_total', 'name') },
    },
    {
      title: 'Answers of the management API by status',
      unit: 'reqps',
      series: { '{{status}}': rate('svc_http_requests_total', 'status') },
    },
    {
      title: 'Releases',
      unit: 'short',
      series: { '{{program}} {{version}}': 'sum by (program, version) (svc_build_info)' },
    },
  ],
};

export const dashboards: readonly Dashboard[] = [calls, platform];

/** Where the JSON of `dashboard` is kept. */
export function pathOf({ file }: Dashboard): string {
  return fileURLToPath(new URL(`svc/files/dashboards/${file}.json`, import.meta.url));
}

/** The JSON that Grafana imports: three panels a row. */
export function jsonOf({ file, title, panels }: Dashboard): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const dashboard = {
    uid: file,
    title,
    tags: ['svc'],
    schemaVersion: 39,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map((panel, n) => ({
      id: n + 1,
      type: 'timeseries',
      title: panel.title,
      datasource,
      gridPos: { x: (n % 3) * 8, y: Math.floor(n / 3) * 8, w: 8, h: 8 },
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
      targets: Object.entries(panel.series).map(([legendFormat, expr], at) => ({
        refId: String.fromCharCode(65 + at),
        ...{ datasource, expr, legendFormat, exemplar: expr.includes('_bucket') },
      })),
    })),
  };
  return `${JSON.stringify(dashboard)}\n`;
}

if (import.meta.main) {
  for (const dashboard of dashboards) {
    mkdirSync(new URL('svc/files/dashboards/', import.meta.url), { recursive: true });
    writeFileSync(pathOf(dashboard), jsonOf(dashboard));
  }
}

// Alerts and dashboards: each alert fires when it should and not before, and what they read exists.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '@svc/cli/tools/program.ts';
import { resolveTool } from '@svc/cli/tools/tools.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { dashboards, jsonOf, pathOf } from './dashboards.ts';
import { find, type Manifest, readText, renderObjects } from './render.ts';

interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly { readonly alert?: string; readonly record?: string; readonly expr: string }[];
  }[];
}

const text = readText('svc', 'files', 'alerts.yaml');
const rules = parse(text) as Rules;
const alerts = rules.groups.flatMap((group) => group.rules.flatMap(({ alert }) => alert ?? []));
let scratch: string;
let promtool: string;

beforeAll(async () => {
  promtool = join(dirname((await resolveTool('prometheus')).path), 'promtool');
  scratch = mkdtempSync(join(tmpdir(), 'svc-alerts-'));
  writeFileSync(join(scratch, 'alerts.yaml'), text);
  tryAll();
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** What each alert fires on, in the notation of promtool: samples two minutes apart. */
const fires: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SvcCallsFail: { 'svc_calls_total{status="error"}': '0+2x210', 'svc_calls_total{status="ok"}': '0+98x210' },
  SvcCallsFailSlowly: {
    'svc_calls_total{status="error"}': '0+1x210',
    'svc_calls_total{status="ok"}': '0+99x210',
  },
  SvcGatewayAbsent: { 'svc_build_info{program="admin"}': '1x210' },
  SvcGatewaySlow: {
    'svc_call_overhead_seconds_bucket{le="0.25"}': '0+1x210',
    'svc_call_overhead_seconds_bucket{le="0.5"}': '0+9x210',
    'svc_call_overhead_seconds_bucket{le="+Inf"}': '0+9x210',
  },
  SvcEventLoopSlow: { 'nodejs_eventloop_lag_p99_seconds{program="gateway"}': '0.3x210' },
  SvcProviderFails: {
    'svc_attempts_total{provider="openai",own_key="false",outcome="error"}': '0+9x210',
    'svc_attempts_total{provider="openai",own_key="false",outcome="ok"}': '0+3x210',
  },
  SvcCircuitOpenForAll: { 'svc_circuits_open_for_all{endpoint_id="ep_1"}': '1x210' },
  SvcProviderKeysRest: { 'svc_provider_keys_resting{provider="openai"}': '1x210' },
  SvcEndpointWithoutUsage: { svc_endpoints_without_usage: '1x210' },
  SvcEndpointWithoutModel: { svc_endpoints_without_model: '1x210' },
  SvcLedgerAway: { 'svc_ledger_shards_away{shard="a"}': '1x210' },
  SvcSettlesLate: {
    'svc_settle_delay_seconds_bucket{shard="main",le="2.5"}': '0+1x210',
    'svc_settle_delay_seconds_bucket{shard="main",le="5"}': '0+9x210',
    'svc_settle_delay_seconds_bucket{shard="main",le="+Inf"}': '0+9x210',
  },
  SvcSettlesJournaled: { 'svc_settles_journaled{shard="main"}': '3x210' },
  SvcLedgerOrdersOld: { svc_ledger_orders_oldest_seconds: '400x210' },
  SvcLedgerMoveStands: { 'svc_ledger_move_seconds{shard="a"}': '86000+60x210' },
  SvcRowsLost: { svc_rows_lost_total: '0+1x210' },
  SvcNobodyLeads: { svc_jobs_leading: '0x210' },
  SvcJobFails: { 'svc_job_failures_total{name="sweep_holds"}': '0+1x210' },
  SvcJobMisses: { 'svc_job_misses{name="purge_audit"}': '2x210' },
  SvcMailLate: { svc_mails_oldest_seconds: '3600x210' },
  SvcCertificatesExpire: { 'svc_storefront_certificates{state="expiring"}': '1x210' },
  SvcRailSilent: { 'svc_rail_silent_seconds{rail="rail-a"}': '3700x210' },
  SvcWebhooksLate: { svc_outbox_oldest_seconds: '400x210' },
  SvcLimitsByShare: { svc_limits_local_share: '1x210' },
  SvcDatabaseBusy: { 'svc_database_connections{state="waiting"}': '2x210' },
  SvcTemporalAway: { svc_temporal_reached: '0x210' },
  SvcWorkflowsLeft: { svc_workflow_rows_left_total: '0+1x210' },
  SvcPolicyNotReady: { 'svc_operator_conditions_not_true{condition="Ready"}': '1x210' },
};

/** A healthy installation: some of its calls are refused, and one in a thousand attempts fails. */
const well: Readonly<Record<string, string>> = {
  'svc_build_info{program="gateway"}': '1x210',
  'svc_calls_total{status="ok"}': '0+1000x210',
  'svc_calls_total{status="rejected"}': '0+500x210',
  'svc_calls_total{status="error"}': '0x210',
  'svc_call_overhead_seconds_bucket{le="0.25"}': '0+1000x210',
  'svc_call_overhead_seconds_bucket{le="+Inf"}': '0+1000x210',
  'nodejs_eventloop_lag_p99_seconds{program="gateway"}': '0.02x210',
  'svc_attempts_total{provider="openai",own_key="false",outcome="ok"}': '0+999x210',
  'svc_attempts_total{provider="openai",own_key="false",outcome="error"}': '0+1x210',
  // One organization's own key is wrong, which is for that organization to correct.
  'svc_attempts_total{provider="openai",own_key="true",outcome="error"}': '0+5000x210',
  'svc_circuits_open{endpoint_id="ep_1"}': '1x210',
  'svc_provider_keys_resting{provider="openai"}': '0 1 0x208',
  svc_endpoints_without_usage: '0x210',
  svc_endpoints_without_model: '0x210',
  'svc_ledger_shards_away{shard="main"}': '0x210',
  'svc_ledger_move_seconds{shard="a"}': '0+60x210',
  'svc_settle_delay_seconds_bucket{shard="main",le="2.5"}': '0+1000x210',
  'svc_settle_delay_seconds_bucket{shard="main",le="+Inf"}': '0+1000x210',
  'svc_settles_journaled{shard="main"}': '0x210',
  svc_ledger_orders_oldest_seconds: '0x210',
  svc_rows_lost_total: '0x210',
  'svc_jobs_leading{instance="a"}': '0x210',
  'svc_jobs_leading{instance="b"}': '1x210',
  'svc_job_failures_total{name="sweep_holds"}': '0 1x209',
  // Five minutes without its database.
  'svc_job_misses{name="sweep_holds"}': '0 20x5 0x204',
  'svc_rail_silent_seconds{rail="rail-a"}': '0x210',
  svc_outbox_oldest_seconds: '1x210',
  svc_limits_local_share: '0x210',
  'svc_database_connections{state="waiting"}': '0 3 0x208',
  svc_temporal_reached: '1x210',
  svc_workflow_rows_left_total: '0x210',
  'svc_operator_conditions_not_true{condition="Ready"}': '0x210',
};

/** The alerts that fire after seven hours, by the name of the case. */
const firing = new Map<string, string[]>();

/** Has promtool evaluate all cases at once. None is expected to alert, because promtool prints the alerts that were not
 * expected. */
function tryAll(): void {
  const tried = Object.entries(fires).map(([alert, series]) => {
    const names = new Set(Object.keys(series).map(metricOf));
    const others = Object.entries(well).filter(([name]) => !names.has(metricOf(name)));
    return [alert, { ...Object.fromEntries(others), ...series }] as const;
  });
  const alert_rule_test = alerts.map((alertname) => ({ eval_time: '7h', alertname, exp_alerts: [] }));
  const tests = [['well', well] as const, ...tried].map(([name, series]) => ({
    ...{ name, interval: '2m', alert_rule_test },
    input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
  }));
  const file = join(scratch, 'firing.yaml');
  writeFileSync(file, stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '2m', tests }));
  const { stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  const output = `${stdout}${stderr}`;
  expect(output).toContain('FAILED');
  expect(output).not.toMatch(/parse error|unmarshal/);
  for (const [, name, alert] of output.matchAll(/name: (\w+),\s+alertname: (\w+), time: 7h/g)) {
    const found = firing.get(name as string) ?? [];
    firing.set(name as string, [...found, alert as string]);
  }
}

/** `name` of a series without its labels. */
function metricOf(name: string): string {
  return name.replace(/\{.*/, '');
}

describe('alerts', () => {
  test('promtool finds nothing wrong with them', async () => {
    const { code, output } = await runCommand(promtool, {
      args: ['check', 'rules', join(scratch, 'alerts.yaml')],
    });
    expect(code, output).toBe(0);
  });

  test('all of them are tried below', () => {
    expect(Object.keys(fires).sort()).toEqual([...alerts].sort());
  });

  test('none fires for an installation that is well', () => {
    expect(firing.get('well') ?? []).toEqual([]);
  });

  test.each(Object.keys(fires))('%s fires', (alert) => {
    expect(firing.get(alert)).toContain(alert);
  });

  test('each has its section in docs/operate/alerts.md', () => {
    const sections = [...readText('../docs/operate/alerts.md').matchAll(/^## (Svc\w+)$/gm)].map(
      ([, name]) => name,
    );
    expect(sections).toEqual(alerts);
  });
});

test('what alerts and dashboards read is in the lists of metrics', () => {
  const listed = `${readText('../docs/operate/monitor.md')}${readText('../docs/kubernetes.md')}`;
  const expressions = [
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ series }) => Object.values(series))),
  ];
  const read = new Set(expressions.flatMap((expr) => expr.match(/\bsvc_\w+/g) ?? []));
  expect(read.size).toBeGreaterThan(20);
  const missing = [...read].filter((name) => !listed.includes(`\`${name.replace(/_bucket$/, '')}`));
  expect(missing).toEqual([]);
});

test('dashboards are what their source says (`node charts/dashboards.ts` writes them)', () => {
  for (const dashboard of dashboards) {
    expect(readFileSync(pathOf(dashboard), 'utf8')).toBe(jsonOf(dashboard));
  }
});

test('the chart brings rules and dashboards as they are, where they are wanted', async () => {
  const plain = await renderObjects('minimal');
  expect(plain.filter(({ kind }) => kind === 'PrometheusRule')).toEqual([]);
  const set = {
    'prometheusRule.enabled': true,
    'prometheusRule.labels.release': 'prometheus',
    'dashboards.enabled': true,
  };
  const objects = await renderObjects('minimal', { set });
  const rule = find(objects, 'PrometheusRule', 'svc-alerts') as Manifest;
  expect(rule['spec']).toEqual(rules);
  expect(rule['metadata'].labels).toMatchObject({ release: 'prometheus' });
  const folder = find(objects, 'ConfigMap', 'svc-dashboards') as Manifest;
  expect(folder['metadata'].labels).toMatchObject({ grafana_dashboard: '1' });
  for (const dashboard of dashboards) {
    expect(folder['data'][`${dashboard.file}.json`].trim()).toBe(jsonOf(dashboard).trim());
  }
});

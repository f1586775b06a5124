import { describe, expect, onTestFinished, test } from 'vitest';
import { openMetrics } from './metrics.ts';

test('the listener serves process, answer and watched figures, and nothing else', async () => {
  const metrics = await openMetrics({ host: '127.0.0.1', port: 0, program: 'gateway' });
  let running = 3;
  metrics.watch([
    { name: 'svc_calls_running', help: 'Calls under way.', type: 'gauge', read: () => running },
  ]);
  metrics.observe({ method: 'GET', route: '/v1/keys/:id', status: 200, seconds: 0.01 });
  const scrape = async () => (await fetch(metrics.url)).text();
  expect(await scrape()).toContain('svc_calls_running{program="gateway"} 3');
  running = 4;
  const text = await scrape();
  expect(text).toContain('svc_calls_running{program="gateway"} 4');
  expect(text).toContain(
    'svc_http_requests_total{method="GET",route="/v1/keys/:id",status="200",program="gateway"} 1',
  );
  expect(text).toContain('process_cpu_seconds_total');
  expect((await fetch(metrics.url.replace('/metrics', '/'))).status).toBe(404);
  await metrics.close();
  await expect(fetch(metrics.url)).rejects.toThrow();
});

describe('a reader of OpenMetrics', () => {
  const OPENMETRICS = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';

  test('gets its own format, and the next reader of the older one the same names as before', async () => {
    const metrics = await openMetrics({ host: '127.0.0.1', port: 0, program: 'gateway' });
    onTestFinished(() => metrics.close());
    metrics.watch([{ name: 'svc_rows_lost_total', help: 'Lost.', type: 'counter', read: () => 2 }]);
    metrics.observe({ method: 'GET', route: '/healthz', status: 200, seconds: 0.01 });
    const scrape = async (accept: string) => {
      const answer = await fetch(metrics.url, { headers: { accept } });
      return { type: answer.headers.get('content-type'), text: await answer.text() };
    };
    const older = await scrape('*/*');
    expect(older.type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const open = await scrape(OPENMETRICS);
    expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.text).toMatch(/# EOF\n$/);
    expect(open.text).toContain('# TYPE svc_rows_lost counter\nsvc_rows_lost_total{program="gateway"} 2');
    expect(open.text).toContain('# TYPE svc_http_requests counter');
    const again = await scrape('*/*');
    const names = (text: string) => text.match(/^# TYPE .*$/gm);
    expect(names(again.text)).toEqual(names(older.text));
    expect(again.text).toContain('svc_build_info{version="0.1.0"');
  });

  test('two readers at once each get theirs', async () => {
    const metrics = await openMetrics({ host: '127.0.0.1', port: 0, program: 'gateway' });
    onTestFinished(() => metrics.close());
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const accept = n % 2 === 0 ? OPENMETRICS : '*/*';
        return (await fetch(metrics.url, { headers: { accept } })).text();
      }),
    );
    expect(texts.map((text) => text.includes('# EOF'))).toEqual(texts.map((_, n) => n % 2 === 0));
  });
});

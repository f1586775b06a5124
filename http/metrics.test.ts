import { expect, test } from 'vitest';
import { openMetrics } from './metrics.ts';

test('the listener serves process, answer and watched figures, and nothing else', async () => {
  const metrics = await openMetrics({ host: '127.0.0.1', port: 0, program: 'gateway' });
  let running = 3;
  metrics.watch({ calls_running: () => running });
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

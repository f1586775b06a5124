// Where rows of calls are kept (docs/operate/analytics.md).
import { analyticsUrl, oneOf } from '../config-values.ts';
import { setting } from './setting.ts';

export const analyticsSettings = {
  analytics_url: setting<string | null>(
    'SVC_ANALYTICS_URL',
    'ClickHouse for rows of calls, `http://user:password@host:8123/database`; unset: they are in PostgreSQL',
    null,
    analyticsUrl,
    true,
  ),
  analytics_dual: setting(
    'SVC_ANALYTICS_DUAL',
    'while the store of rows is changed: every row is written to both, and read from the one that is named',
    'off',
    oneOf(['off', 'read-postgres', 'read-clickhouse']),
  ),
};

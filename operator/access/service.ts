// The routes of projects and keys. Only two answers hold a secret, those of `createKey` and `rotateKey`.
import { type Call, type Connection, callerOf, type Result } from '../rest.ts';

interface Limits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

export interface ProjectView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly environment: 'live' | 'test';
  readonly budget: { readonly monthly_micro: number | null; readonly hard: boolean };
  readonly limits: Limits;
  readonly alerts: readonly number[];
  readonly managed_by: string | null;
}

export interface KeyView {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly hint: string;
  readonly environment: 'live' | 'test';
  readonly status: 'active' | 'rotating' | 'blocked' | 'revoked' | 'expired';
  readonly scopes: readonly string[];
  readonly limits: Limits;
  readonly budget: { readonly daily_micro: number | null; readonly hard: boolean };
  readonly created_at: string;
  readonly expires_at: string | null;
}
export type KeyWithSecret = KeyView & { readonly secret: string };

export interface AccessService {
  projects(): Promise<Result<readonly ProjectView[]>>;
  createProject(body: object, once: string): Promise<Result<ProjectView>>;
  updateProject(id: string, body: object, release?: boolean): Promise<Result<ProjectView>>;
  archiveProject(id: string): Promise<Result<unknown>>;
  /** Keys of the object, newest first: the newest 200 of any status, or all of one status. */
  keys(status?: KeyView['status']): Promise<Result<readonly KeyView[]>>;
  createKey(body: object, once: string): Promise<Result<KeyWithSecret>>;
  rotateKey(id: string, body: object, once: string): Promise<Result<KeyWithSecret>>;
  updateKey(id: string, body: object): Promise<Result<KeyView>>;
  revokeKey(id: string): Promise<Result<KeyView>>;
}

interface Page<T> {
  readonly data: readonly T[];
}

/** The routes at `connection`, on behalf of one object. */
export function openAccess(connection: Connection, parts: Parameters<typeof callerOf>[1]): AccessService {
  const call = callerOf(connection, parts);
  const listed = async <T>(name: string, path: string): Promise<Result<readonly T[]>> => {
    const answer = await call<Page<T>>(name, { method: 'GET', path });
    return answer.ok ? { ok: true, value: answer.value.data } : answer;
  };
  const send = <T>(name: string, method: Call['method'], path: string, more: Partial<Call> = {}) =>
    call<T>(name, { method, path, ...more });
  const once = (key: string) => ({ 'idempotency-key': key });
  return {
    projects: () => listed('projects', '/v1/projects'),
    createProject: (body, key) =>
      send('create_project', 'POST', '/v1/projects', { body, headers: once(key) }),
    updateProject: (id, body, release = false) =>
      send('update_project', 'PATCH', `/v1/projects/${id}`, {
        ...{ body, headers: release ? { 'x-svc-release': '1' } : {} },
      }),
    archiveProject: (id) => send('archive_project', 'DELETE', `/v1/projects/${id}`),
    keys(status) {
      const query = new URLSearchParams({ managed_by: connection.manifest, limit: '200' });
      if (status !== undefined) query.set('status', status);
      return listed('keys', `/v1/keys?${query}`);
    },
    createKey: (body, key) => send('create_key', 'POST', '/v1/keys', { body, headers: once(key) }),
    rotateKey: (id, body, key) =>
      send('rotate_key', 'POST', `/v1/keys/${id}/rotate`, { body, headers: once(key) }),
    updateKey: (id, body) => send('update_key', 'PATCH', `/v1/keys/${id}`, { body }),
    revokeKey: (id) => send('revoke_key', 'DELETE', `/v1/keys/${id}`),
  };
}

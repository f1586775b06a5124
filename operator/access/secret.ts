// The Secret of an ApiKey: the only place that the value of a key is written to.
import { ApiFault, type KubernetesApi, MERGE_PATCH } from '../cluster/kubernetes.ts';
import type { SecretSeen } from './decide-key.ts';
import { requestOf } from './decide-key.ts';
import type { KeyWithSecret } from './service.ts';
import { type ApiKeyObject, accessAnnotations } from './types.ts';

interface SecretObject {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

function pathOf({ metadata, spec }: ApiKeyObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/secrets/${spec.secretRef.name}`;
}

const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString();
const encoded = (text: string) => Buffer.from(text).toString('base64');

/** What stands in the object's Secret; null where there is none. @throws ApiFault, 403 without the right to read it. */
export async function readSecret(api: KubernetesApi, object: ApiKeyObject): Promise<SecretSeen | null> {
  try {
    const { metadata, data = {} } = await api.ask<SecretObject>('GET', pathOf(object));
    const { annotations = {}, ownerReferences = [], resourceVersion } = metadata;
    return {
      version: resourceVersion,
      owned: ownerReferences.some(({ uid }) => uid === object.metadata.uid),
      key_id: annotations[accessAnnotations.key_id] ?? null,
      value_end: decoded(data['api-key']).slice(-4),
      base_url: decoded(data['base-url']),
      request: annotations[accessAnnotations.rotate] ?? '',
    };
  } catch (error) {
    if (error instanceof ApiFault && error.status === 404) return null;
    throw error;
  }
}

/**
 * Writes the key into the Secret as it was seen: of two writers the second is told so (409) and looks again. Without a
 * key only what stands beside it.
 * @throws ApiFault.
 */
export async function writeSecret(
  api: KubernetesApi,
  object: ApiKeyObject,
  input: { readonly seen: SecretSeen | null; readonly base_url: string; readonly key: KeyWithSecret | null },
): Promise<void> {
  const { seen, base_url, key } = input;
  const { name, namespace, uid } = object.metadata;
  const annotations = {
    ...(key === null ? {} : { [accessAnnotations.key_id]: key.id }),
    [accessAnnotations.rotate]: requestOf(object),
  };
  const data = {
    ...(key === null ? {} : { 'api-key': encoded(key.secret) }),
    'base-url': encoded(base_url),
  };
  if (seen !== null) {
    const metadata = { resourceVersion: seen.version, annotations };
    await api.ask('PATCH', pathOf(object), { metadata, data }, MERGE_PATCH);
    return;
  }
  const owner = { apiVersion: object.apiVersion, kind: object.kind, name, uid, controller: true };
  await api.ask('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data },
    metadata: { name: object.spec.secretRef.name, namespace, annotations, ownerReferences: [owner] },
  });
}

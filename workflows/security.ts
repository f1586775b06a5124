// How the worker reaches Temporal: in the clear, with TLS, with a certificate of its own, with an API key; and as which
// version of a worker deployment.
import { readFile } from 'node:fs/promises';
import { type Config, version } from '@svc/core/kernel/index.ts';
import type { NativeConnectionOptions, WorkerOptions } from '@temporalio/worker';

type Settings = Pick<
  Config,
  | 'temporal_tls'
  | 'temporal_tls_ca_file'
  | 'temporal_tls_cert_file'
  | 'temporal_tls_key_file'
  | 'temporal_tls_server_name'
  | 'temporal_api_key'
>;

/**
 * What `settings` say about the connection, read anew for each one so that files may be replaced while the worker runs.
 * @throws Error (from this call) when settings contradict each other, (from the returned one) when a file cannot be read.
 */
export function securityOf(
  settings: Settings,
): () => Promise<Pick<NativeConnectionOptions, 'tls' | 'apiKey'>> {
  const { temporal_tls: tls, temporal_api_key: key, temporal_tls_server_name: name } = settings;
  const {
    temporal_tls_ca_file: ca,
    temporal_tls_cert_file: cert,
    temporal_tls_key_file: cert_key,
  } = settings;
  if (!tls) {
    // An API key would be sent in the clear; the others would be ignored.
    const useless = Object.entries({
      API_KEY: key,
      TLS_CA_FILE: ca,
      TLS_CERT_FILE: cert,
      TLS_SERVER_NAME: name,
    });
    const found = useless.find(([, value]) => value !== null);
    if (found !== undefined) throw new Error(`SVC_TEMPORAL_${found[0]} needs SVC_TEMPORAL_TLS=1.`);
  }
  if ((cert === null) !== (cert_key === null))
    throw new Error('SVC_TEMPORAL_TLS_CERT_FILE and SVC_TEMPORAL_TLS_KEY_FILE belong together.');
  return async () => {
    if (!tls) return {};
    const client =
      cert === null || cert_key === null
        ? {}
        : { clientCertPair: { crt: await readFile(cert), key: await readFile(cert_key) } };
    return {
      tls: {
        ...(ca === null ? {} : { serverRootCACertificate: await readFile(ca) }),
        ...(name === null ? {} : { serverNameOverride: name }),
        ...client,
      },
      ...(key === null ? {} : { apiKey: key }),
    };
  };
}

/**
 * The version that a worker says it has; none unless a deployment is named, because a versioned worker gets nothing to do
 * until the operators of Temporal make its version the current one. A run goes on with the version that is current: the
 * product's workflows continue what older releases began (`test/workflows/replay.test.ts`).
 */
export function versionOf({
  temporal_deployment: deploymentName,
  temporal_build_id: build_id,
}: Pick<Config, 'temporal_deployment' | 'temporal_build_id'>): Pick<
  WorkerOptions,
  'workerDeploymentOptions'
> {
  if (deploymentName === null) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName, buildId: build_id ?? version },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

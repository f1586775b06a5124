// Checks a providers file the way a gateway loads it, on top of the committed catalog, and reports every fault with
// its line.

import { resolve } from 'node:path';
import { CatalogError, committedCatalog, readFiles } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import type { Command } from '../command.ts';
import { findInstallation } from '../installation.ts';

export const command: Command = {
  positionals: [{ name: 'FILE', doc: 'YAML in the form of SVC_PROVIDERS_FILE', required: true }],
  example: 'svcctl catalog load providers.yaml',
  async run(input) {
    const path = resolve(input.positionals[0] as string);
    const { config } = findInstallation();
    try {
      const merged = await readFiles([committedCatalog, path], {
        formats: builtIn.catalog,
        insecure_upstreams: config.insecure_upstreams,
      });
      const counts = { providers: merged.providers.size, models: merged.models.size };
      const text = `usable: with the committed catalog ${counts.providers} providers, ${counts.models} models.\nTo use it: SVC_PROVIDERS_FILE=${path}`;
      return { json: { ok: true, file: path, ...counts, faults: [] }, text };
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      const lines = error.faults.map(
        (fault) => `${fault.file}:${fault.line}: ${fault.path}: ${fault.reason}`,
      );
      return { json: { ok: false, file: path, faults: error.faults }, text: lines.join('\n'), ok: false };
    }
  },
};

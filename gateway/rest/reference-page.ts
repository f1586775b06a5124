// The reference page: Scalar, configured to load nothing from other servers and to send nothing to them.
import { escaped } from '@svc/http/index.ts';

/** The page under a name; its two scripts are served beside it. */
export const referencePage = (name: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(name)} API</title>` +
  '<meta name="viewport" content="width=device-width,initial-scale=1"></head><body><div id="app"></div>' +
  '<noscript>The reference needs JavaScript. The document it shows is <a href="/openapi.json">/openapi.json</a>.' +
  '</noscript><script src="/docs/reference.js"></script><script src="/docs/start.js"></script></body></html>';

const options = {
  url: '/openapi.json',
  layout: 'modern',
  theme: 'default',
  operationTitleSource: 'summary',
  // The samples that most callers paste are shown first; others can be selected.
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  defaultOpenFirstTag: true,
  // In the order of declaration: it puts first what a caller needs first.
  orderSchemaPropertiesBy: 'preserve',
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  authentication: { preferredSecurityScheme: 'bearer' },
};

/** The script that starts the reference. */
export function referenceStart(name: string): string {
  const said = { ...options, metaData: { title: `${name} API` } };
  return `Scalar.createApiReference('#app', ${JSON.stringify(said)});\n`;
}

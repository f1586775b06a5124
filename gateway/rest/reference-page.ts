// The reference page: Scalar, told to load nothing from elsewhere and to ask nobody else.

/** The page; its two scripts are served beside it. */
export const referencePage =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>LLM gateway API</title>' +
  '<meta name="viewport" content="width=device-width,initial-scale=1"></head><body><div id="app"></div>' +
  '<noscript>The reference needs JavaScript. The document it shows is <a href="/openapi.json">/openapi.json</a>.' +
  '</noscript><script src="/docs/reference.js"></script><script src="/docs/start.js"></script></body></html>';

const options = {
  url: '/openapi.json',
  layout: 'modern',
  theme: 'default',
  operationTitleSource: 'summary',
  // The samples that most callers paste; others can be chosen.
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  defaultOpenFirstTag: true,
  // As declared: what a caller needs first stands first.
  orderSchemaPropertiesBy: 'preserve',
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  authentication: { preferredSecurityScheme: 'bearer' },
  metaData: { title: 'LLM gateway API' },
};

/** What starts it. */
export const referenceStart = `Scalar.createApiReference('#app', ${JSON.stringify(options)});\n`;

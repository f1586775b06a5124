// The document by the rules that other people's linters hold documents against: Redocly's recommended ones, and
// Spectral's for OpenAPI. What is switched off is named with its reason.

import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { openApiDocument } from '@svc/core/operations/index.ts';
import { expect, test } from 'vitest';

const document = openApiDocument('http://127.0.0.1:8080');

/** Who runs an installation is not known to the software: neither a licence nor a contact can be named. */
const redocly = { extends: ['recommended'], rules: { 'info-license': 'off' } };
const spectral = { extends: [spectralRulesets.oas], rules: { 'info-contact': 'off' } };

test('Redocly finds nothing to say, about examples neither', async () => {
  const config = await createConfig(redocly as never);
  const source = JSON.stringify(document);
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

test('Spectral finds nothing to say', async () => {
  const linter = new spectralCore.Spectral();
  linter.setRuleset(new spectralCore.Ruleset(spectral as never));
  const problems = await linter.run(JSON.parse(JSON.stringify(document)));
  expect(problems.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`)).toEqual([]);
});

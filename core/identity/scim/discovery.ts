// What a directory can find out about this service (RFC 7644 section 4).
import { missing } from './fault.ts';
import { COUNT_MAX, listOfResources } from './list.ts';
import { groupSchema, type Schema, userSchema } from './schemas.ts';

const PREFIX = 'urn:ietf:params:scim:schemas:core:2.0';

/** What is supported at `address`, where the directory asked. */
export function serviceProviderConfig(address: string): object {
  return {
    schemas: [`${PREFIX}:ServiceProviderConfig`],
    documentationUri: `${address}/docs`,
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: COUNT_MAX },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        ...{ type: 'oauthbearertoken', name: 'Token of the directory', primary: true },
        description: 'A token that an owner or admin makes in the console, sent as Authorization: Bearer.',
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${address}/scim/v2/ServiceProviderConfig` },
  };
}

function viewSchema(address: string, { ignored: _, ...schema }: Schema): object {
  const meta = { resourceType: 'Schema', location: `${address}/scim/v2/Schemas/${schema.id}` };
  return { schemas: [`${PREFIX}:Schema`], ...schema, meta };
}

function viewType(address: string, { id, name, description }: Schema): object {
  return {
    schemas: [`${PREFIX}:ResourceType`],
    ...{ id: name, name, description, endpoint: `/${name}s`, schema: id, schemaExtensions: [] },
    meta: { resourceType: 'ResourceType', location: `${address}/scim/v2/ResourceTypes/${name}` },
  };
}

const schemas = [userSchema, groupSchema];

/** The schemas, or the one that is named. @throws ScimFault 404. */
export function describeSchemas(address: string, id: string | undefined): object {
  if (id === undefined) {
    const all = schemas.map((schema) => viewSchema(address, schema));
    return listOfResources(all.length, 0, all);
  }
  const found = schemas.find((schema) => schema.id.toLowerCase() === id.toLowerCase());
  if (found === undefined) throw missing();
  return viewSchema(address, found);
}

/** The types of resources, or the one that is named. @throws ScimFault 404. */
export function describeTypes(address: string, id: string | undefined): object {
  if (id === undefined) {
    const all = schemas.map((schema) => viewType(address, schema));
    return listOfResources(all.length, 0, all);
  }
  const found = schemas.find(({ name }) => name === id);
  if (found === undefined) throw missing();
  return viewType(address, found);
}

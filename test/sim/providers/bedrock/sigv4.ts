// AWS Signature Version 4 as the provider checks it, written from the specification: it shares no code with the product
// and none with AWS's clients. @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface AwsAccount {
  access_key_id: string;
  secret: string;
  session_token?: string;
}

/** What is wrong with a request's signature, as the provider would say it. */
export interface AuthFault {
  type: string;
  message: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
const CLOCK_SKEW_MS = 300_000;

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function hex(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Each segment encoded once more, as every service except S3 requires. */
function canonicalPath(path: string): string {
  const encode = (segment: string) =>
    encodeURIComponent(segment).replace(
      /[!'()*]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return path.split('/').map(encode).join('/');
}

/** The account that signed `request` for `region`, or what is wrong with the signature. */
export function verifySignature(
  request: IncomingMessage,
  body: Buffer,
  accounts: readonly AwsAccount[],
  region: string,
): AwsAccount | AuthFault {
  const found = AUTHORIZATION.exec(request.headers.authorization ?? '');
  if (found === null) {
    return { type: 'MissingAuthenticationTokenException', message: 'Missing Authentication Token' };
  }
  const [, id, day, signed_region, service, names = '', signature = ''] = found as unknown as string[];
  const account = accounts.find(({ access_key_id }) => access_key_id === id);
  const token = request.headers['x-amz-security-token'];
  if (account === undefined || account.session_token !== token) {
    const message = 'The security token included in the request is invalid.';
    return { type: 'UnrecognizedClientException', message };
  }
  if (service !== 'bedrock' || signed_region !== region) {
    const message = `Credential should be scoped to a valid region and service, not '${signed_region}/${service}'.`;
    return { type: 'InvalidSignatureException', message };
  }
  const date = String(request.headers['x-amz-date'] ?? '');
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!date.startsWith(String(day)) || !(Math.abs(at - Date.now()) < CLOCK_SKEW_MS)) {
    return { type: 'InvalidSignatureException', message: `Signature expired: ${date} is not now.` };
  }
  const listed = names.split(';');
  const must = ['host', 'x-amz-date', ...(token === undefined ? [] : ['x-amz-security-token'])];
  if (must.some((name) => !listed.includes(name)) || listed.join() !== [...listed].sort().join()) {
    return { type: 'IncompleteSignatureException', message: `SignedHeaders lack one of ${must.join(', ')}.` };
  }
  const url = new URL(request.url ?? '/', 'http://sim');
  const headers = listed.map(
    (name) =>
      `${name}:${String(request.headers[name] ?? '')
        .trim()
        .replace(/ +/g, ' ')}\n`,
  );
  const canonical = ['POST', canonicalPath(url.pathname), '', headers.join(''), names, hex(body)].join('\n');
  const scope = `${day}/${region}/bedrock/aws4_request`;
  let key = hmac(`AWS4${account.secret}`, String(day));
  for (const part of [region, 'bedrock', 'aws4_request']) key = hmac(key, part);
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, hex(canonical)].join('\n'));
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) {
    const message =
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.';
    return { type: 'InvalidSignatureException', message };
  }
  return account;
}

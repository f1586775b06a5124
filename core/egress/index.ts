export type { DnsAnswer } from './dns.ts';
export { type DomainName, readDomainName } from './domain-name.ts';
export {
  type Egress,
  type EgressFault,
  type EgressRequest,
  type EgressResponse,
  egressOf,
  openEgress,
} from './egress.ts';

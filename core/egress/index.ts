export {
  type Egress,
  type EgressFault,
  type EgressRequest,
  type EgressResponse,
  egressOf,
  openEgress,
} from './egress.ts';

export {
  type Egress,
  type EgressAnswer,
  type EgressFault,
  type EgressRequest,
  egressOf,
  openEgress,
} from './egress.ts';

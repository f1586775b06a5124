// The error that is thrown for malformed bytes.

/** The provider does not keep to its own format; becomes a fault of class `protocol`. */
export class ProtocolFault extends Error {}

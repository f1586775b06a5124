// What is thrown where bytes are not what they must be.

/** The provider does not speak its own format; becomes class `protocol`. */
export class ProtocolFault extends Error {}

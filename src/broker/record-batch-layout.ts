/**
 * Kafka's record batch, format v2 (KIP-98). Fields of the header stand at fixed places; the base offset and the leader
 * epoch are outside the checksum, so whoever stores a batch can set them.
 */
export const BASE_OFFSET_AT = 0
export const LENGTH_AT = 8
export const LEADER_EPOCH_AT = 12
export const MAGIC_AT = 16
export const CRC_AT = 17
export const ATTRIBUTES_AT = 21
export const LAST_OFFSET_DELTA_AT = 23
export const FIRST_TIMESTAMP_AT = 27
export const MAX_TIMESTAMP_AT = 35
export const PRODUCER_ID_AT = 43
export const PRODUCER_EPOCH_AT = 51
export const BASE_SEQUENCE_AT = 53
export const COUNT_AT = 57
export const HEADER_BYTES = 61

/** Bytes before what the length field counts. */
export const PREFIX_BYTES = 12
export const COMPRESSION_MASK = 0x07
export const LOG_APPEND_TIME = 0x08
export const TRANSACTIONAL = 0x10
export const CONTROL = 0x20

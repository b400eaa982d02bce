/**
 * Layout of Kafka's record batch, format v2 (KIP-98). The checksum does not cover base offset and leader epoch, so a
 * broker can set them.
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

/** Bytes that the length field does not count. */
export const PREFIX_BYTES = 12
export const COMPRESSION_MASK = 0x07
export const LOG_APPEND_TIME = 0x08
export const TRANSACTIONAL = 0x10
export const CONTROL = 0x20

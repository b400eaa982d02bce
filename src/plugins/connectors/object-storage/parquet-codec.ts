export const PARQUET_CODECS = ['snappy', 'gzip', 'zstd', 'none'] as const
export type ParquetCodec = (typeof PARQUET_CODECS)[number]

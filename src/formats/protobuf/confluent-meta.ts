import { parseProto } from './parser.ts'
import type { ProtoDependency } from './type-table.ts'

/** The file with the options that contain Confluent's tags, documentation and parameters. */
export const CONFLUENT_META_PATH = 'confluent/meta.proto'

export const CONFLUENT_META_TEXT = `syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
    message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; repeated Rule rules = 4; }
    message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
    extend google.protobuf.FileOptions { Meta file_meta = 1088; } extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
    extend google.protobuf.FieldOptions { Meta field_meta = 1088; } extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
    extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }`

let parsed: ProtoDependency | undefined

/** Known without an import, as in Confluent's registry, which adds these options to schemas. */
export function confluentMeta(): ProtoDependency {
  parsed ??= { path: CONFLUENT_META_PATH, file: parseProto(CONFLUENT_META_TEXT) }
  return parsed
}

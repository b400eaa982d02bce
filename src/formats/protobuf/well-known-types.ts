import * as google from '@bufbuild/protobuf/wkt'
import { CONFLUENT_META_PATH, CONFLUENT_META_TEXT } from './confluent-meta.ts'
import { fromFileDescriptor } from './descriptor-reader.ts'
import { printProto } from './printer.ts'

/**
 * Returns the text of a file that can be imported without a reference; undefined for an unknown path.
 * `google/protobuf/*` are as published by Google, `google/type/*` and `confluent/*` contain only the declarations.
 */
export function wellKnownFile(path: string): string | undefined {
  const known = texts.get(path)
  if (known !== undefined) return known
  const descriptor = GOOGLE_FILES.find(({ proto }) => proto.name === path)?.proto
  const text = descriptor ? printProto(fromFileDescriptor(descriptor)) : DECLARED[path]
  if (text !== undefined) texts.set(path, text)
  return text
}

const texts = new Map<string, string>()

const GOOGLE_FILES = [
  google.file_google_protobuf_any,
  google.file_google_protobuf_api,
  google.file_google_protobuf_descriptor,
  google.file_google_protobuf_duration,
  google.file_google_protobuf_empty,
  google.file_google_protobuf_field_mask,
  google.file_google_protobuf_source_context,
  google.file_google_protobuf_struct,
  google.file_google_protobuf_timestamp,
  google.file_google_protobuf_type,
  google.file_google_protobuf_wrappers,
]

const googleType = (body: string, ...imports: string[]) =>
  `syntax = "proto3"; package google.type; ${imports.map((path) => `import "google/protobuf/${path}.proto";`).join(' ')} ${body}`

const confluent = (name: string, body: string) => `syntax = "proto3"; package ${name}; ${body}`

const MONTHS = 'JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER'
const DAYS = 'MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY'
const PERIODS = 'DAY WEEK FORTNIGHT MONTH QUARTER HALF YEAR'

function constants(words: string): string {
  return words
    .split(' ')
    .map((word, at) => `${word} = ${at + 1};`)
    .join(' ')
}

const DECLARED: Readonly<Record<string, string>> = {
  'google/type/calendar_period.proto': googleType(
    `enum CalendarPeriod { CALENDAR_PERIOD_UNSPECIFIED = 0; ${constants(PERIODS)} }`,
  ),
  'google/type/color.proto': googleType(
    'message Color { float red = 1; float green = 2; float blue = 3; google.protobuf.FloatValue alpha = 4; }',
    'wrappers',
  ),
  'google/type/date.proto': googleType('message Date { int32 year = 1; int32 month = 2; int32 day = 3; }'),
  'google/type/datetime.proto': googleType(
    `message DateTime { int32 year = 1; int32 month = 2; int32 day = 3; int32 hours = 4; int32 minutes = 5; int32 seconds = 6; int32 nanos = 7;
      oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; } }
    message TimeZone { string id = 1; string version = 2; }`,
    'duration',
  ),
  'google/type/dayofweek.proto': googleType(`enum DayOfWeek { DAY_OF_WEEK_UNSPECIFIED = 0; ${constants(DAYS)} }`),
  'google/type/decimal.proto': googleType('message Decimal { string value = 1; }'),
  'google/type/expr.proto': googleType(
    'message Expr { string expression = 1; string title = 2; string description = 3; string location = 4; }',
  ),
  'google/type/fraction.proto': googleType('message Fraction { int64 numerator = 1; int64 denominator = 2; }'),
  'google/type/interval.proto': googleType(
    'message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }',
    'timestamp',
  ),
  'google/type/latlng.proto': googleType('message LatLng { double latitude = 1; double longitude = 2; }'),
  'google/type/money.proto': googleType(
    'message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }',
  ),
  'google/type/month.proto': googleType(`enum Month { MONTH_UNSPECIFIED = 0; ${constants(MONTHS)} }`),
  'google/type/phone_number.proto': googleType(
    `message PhoneNumber { message ShortCode { string region_code = 1; string number = 2; }
      oneof kind { string e164_number = 1; ShortCode short_code = 2; } string extension = 3; }`,
  ),
  'google/type/postal_address.proto': googleType(
    `message PostalAddress { int32 revision = 1; string region_code = 2; string language_code = 3; string postal_code = 4; string sorting_code = 5;
      string administrative_area = 6; string locality = 7; string sublocality = 8; repeated string address_lines = 9; repeated string recipients = 10;
      string organization = 11; }`,
  ),
  'google/type/quaternion.proto': googleType(
    'message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }',
  ),
  'google/type/timeofday.proto': googleType(
    'message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }',
  ),
  [CONFLUENT_META_PATH]: CONFLUENT_META_TEXT,
  'confluent/type/decimal.proto': confluent(
    'confluent.type',
    'message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }',
  ),
  'confluent/type/variant.proto': confluent(
    'confluent.type',
    'message Variant { bytes metadata = 1; bytes value = 2; }',
  ),
}

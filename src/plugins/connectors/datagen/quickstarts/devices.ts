import {
  cities,
  clientIp,
  doubleRange,
  firstNames,
  fullNames,
  intRange,
  iteration,
  lastNames,
  longRange,
  NAMES,
  nicknames,
  type Quickstarts,
  recordOf,
  recordOption,
  regexString,
  START_MS,
  stringOption,
  timestamps,
  YEAR_MS,
} from './schema-builder.ts'

const STATUSES = [
  [200, 'OK'],
  [302, 'Found'],
  [304, 'Not Modified'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [500, 'Internal Server Error'],
] as const
const hosts = stringOption('gate-1', 'gate-2', 'web-1', 'web-2', 'db-1', 'mail-1')
const serverIp = regexString('203\\.0\\.113\\.[1-9]\\d')

export const DEVICES = {
  clickstream: [
    'ip',
    recordOf('clickstream', {
      ip: clientIp,
      userid: intRange(1, NAMES.length + 1),
      remote_user: stringOption('-'),
      time: iteration('string', 1),
      _time: iteration('long', START_MS, 10),
      request: regexString('(GET|POST) /(index|cart|search|images/logo)\\.(html|png) HTTP/1\\.1'),
      status: stringOption(...STATUSES.map(([code]) => String(code))),
      bytes: regexString('[1-9]\\d{2,4}'),
      referrer: stringOption('-', 'https://example.org/', 'https://shop.example.org/sale'),
      agent: stringOption('Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0 (Macintosh)', 'examplebot/2.1'),
    }),
  ],
  clickstream_codes: ['code', recordOption('codes', 'code:int definition', STATUSES)],
  clickstream_users: [
    'user_id',
    recordOf('users', {
      user_id: iteration('int', 1),
      username: stringOption(...nicknames),
      registered_at: longRange(START_MS, START_MS + YEAR_MS),
      first_name: firstNames,
      last_name: lastNames,
      city: cities,
      level: stringOption('Gold', 'Silver', 'Platinum'),
    }),
  ],
  fleet_mgmt_description: [
    'vehicle_id',
    recordOf('fleet_mgmt_description', {
      vehicle_id: intRange(1_000, 1_100),
      driver_name: fullNames,
      license_plate: regexString('[A-Z]{2}-\\d{3}-[A-Z]{2}'),
    }),
  ],
  fleet_mgmt_location: [
    'vehicle_id',
    recordOf('fleet_mgmt_location', {
      vehicle_id: intRange(1_000, 1_100),
      location: recordOf('coordinates', { latitude: doubleRange(37.2, 37.8), longitude: doubleRange(-122.5, -121.8) }),
      ts: timestamps,
    }),
  ],
  fleet_mgmt_sensors: [
    'vehicle_id',
    recordOf('fleet_mgmt_sensors', {
      vehicle_id: intRange(1_000, 1_100),
      engine_temperature: intRange(150, 250),
      average_rpm: intRange(1_800, 5_000),
    }),
  ],
  device_information: [
    'device_ip',
    recordOf('device_information', {
      device_ip: clientIp,
      mac_address: regexString('02(:[0-9a-f]{2}){5}'),
      owner: stringOption(...nicknames),
    }),
  ],
  siem_logs: [
    'hostname',
    recordOf('siem_logs', {
      hostname: hosts,
      action: stringOption('permitted', 'denied'),
      l4: stringOption('tcp', 'udp'),
      access_group: stringOption('inside', 'outside', 'dmz'),
      source: recordOf('source', { ip: clientIp, port: intRange(1_024, 65_536) }),
      destination: recordOf('destination', { ip: serverIp, port: intRange(1, 1_024) }),
    }),
  ],
  syslog_logs: [
    'host',
    recordOf('syslog_logs', {
      name: regexString('syslog-[a-f]'),
      type: stringOption('SYSLOG', 'RFC5424'),
      message: regexString('(session opened|session closed|connection refused) for u[0-9]{3}'),
      host: hosts,
      version: stringOption('1'),
      tag: stringOption('sshd', 'cron', 'kernel', 'nginx'),
      level: intRange(0, 8),
      facility: stringOption('auth', 'cron', 'daemon', 'kern', 'local0'),
      severity: intRange(0, 8),
      appName: regexString('app-[a-d]'),
      remoteAddress: clientIp,
      rawMessage: regexString('<\\d{2}>1 app-[a-d]: [a-z]{8,16}'),
      processId: regexString('[1-9]\\d{3}'),
      messageId: regexString('ID[1-9]\\d'),
      deviceVendor: regexString('Vendor [A-C]'),
      deviceProduct: regexString('Product [A-C]'),
      deviceVersion: stringOption('1.0', '1.1', '2.0'),
      ts: iteration('long', START_MS, 10),
    }),
  ],
} as const satisfies Quickstarts

import {
  cities,
  clientIp,
  counted,
  double,
  firstNames,
  fullNames,
  int,
  lastNames,
  long,
  moment,
  NAMES,
  nicknames,
  oneOf,
  type Quickstarts,
  record,
  START_MS,
  text,
  word,
  YEAR_MS,
} from './notation.ts'

const STATUSES = [
  [200, 'OK'],
  [302, 'Found'],
  [304, 'Not Modified'],
  [404, 'Not Found'],
  [405, 'Method Not Allowed'],
  [500, 'Internal Server Error'],
] as const
const hosts = word('gate-1', 'gate-2', 'web-1', 'web-2', 'db-1', 'mail-1')
const serverIp = text('203\\.0\\.113\\.[1-9]\\d')

export const MACHINES = {
  clickstream: [
    'ip',
    record('clickstream', {
      ip: clientIp,
      userid: int(1, NAMES.length + 1),
      remote_user: word('-'),
      time: counted('string', 1),
      _time: counted('long', START_MS, 10),
      request: text('(GET|POST) /(index|cart|search|images/logo)\\.(html|png) HTTP/1\\.1'),
      status: word(...STATUSES.map(([code]) => String(code))),
      bytes: text('[1-9]\\d{2,4}'),
      referrer: word('-', 'https://example.org/', 'https://shop.example.org/sale'),
      agent: word('Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0 (Macintosh)', 'examplebot/2.1'),
    }),
  ],
  clickstream_codes: ['code', oneOf('codes', 'code:int definition', STATUSES)],
  clickstream_users: [
    'user_id',
    record('users', {
      user_id: counted('int', 1),
      username: word(...nicknames),
      registered_at: long(START_MS, START_MS + YEAR_MS),
      first_name: firstNames,
      last_name: lastNames,
      city: cities,
      level: word('Gold', 'Silver', 'Platinum'),
    }),
  ],
  fleet_mgmt_description: [
    'vehicle_id',
    record('fleet_mgmt_description', {
      vehicle_id: int(1_000, 1_100),
      driver_name: fullNames,
      license_plate: text('[A-Z]{2}-\\d{3}-[A-Z]{2}'),
    }),
  ],
  fleet_mgmt_location: [
    'vehicle_id',
    record('fleet_mgmt_location', {
      vehicle_id: int(1_000, 1_100),
      location: record('coordinates', { latitude: double(37.2, 37.8), longitude: double(-122.5, -121.8) }),
      ts: moment,
    }),
  ],
  fleet_mgmt_sensors: [
    'vehicle_id',
    record('fleet_mgmt_sensors', {
      vehicle_id: int(1_000, 1_100),
      engine_temperature: int(150, 250),
      average_rpm: int(1_800, 5_000),
    }),
  ],
  device_information: [
    'device_ip',
    record('device_information', {
      device_ip: clientIp,
      mac_address: text('02(:[0-9a-f]{2}){5}'),
      owner: word(...nicknames),
    }),
  ],
  siem_logs: [
    'hostname',
    record('siem_logs', {
      hostname: hosts,
      action: word('permitted', 'denied'),
      l4: word('tcp', 'udp'),
      access_group: word('inside', 'outside', 'dmz'),
      source: record('source', { ip: clientIp, port: int(1_024, 65_536) }),
      destination: record('destination', { ip: serverIp, port: int(1, 1_024) }),
    }),
  ],
  syslog_logs: [
    'host',
    record('syslog_logs', {
      name: text('syslog-[a-f]'),
      type: word('SYSLOG', 'RFC5424'),
      message: text('(session opened|session closed|connection refused) for u[0-9]{3}'),
      host: hosts,
      version: word('1'),
      tag: word('sshd', 'cron', 'kernel', 'nginx'),
      level: int(0, 8),
      facility: word('auth', 'cron', 'daemon', 'kern', 'local0'),
      severity: int(0, 8),
      appName: text('app-[a-d]'),
      remoteAddress: clientIp,
      rawMessage: text('<\\d{2}>1 app-[a-d]: [a-z]{8,16}'),
      processId: text('[1-9]\\d{3}'),
      messageId: text('ID[1-9]\\d'),
      deviceVendor: text('Vendor [A-C]'),
      deviceProduct: text('Product [A-C]'),
      deviceVersion: word('1.0', '1.1', '2.0'),
      ts: counted('long', START_MS, 10),
    }),
  ],
} as const satisfies Quickstarts

import {
  clientIp,
  days,
  doubleRange,
  email,
  type Fields,
  intRange,
  iteration,
  longRange,
  NAMES,
  nicknames,
  numbered,
  type Quickstarts,
  recordOf,
  recordOption,
  regexString,
  START_MS,
  stringOption,
  timestamps,
  typeWithArguments,
  YEAR_MS,
} from './schema-builder.ts'

const user: Fields = {
  registertime: longRange(START_MS, START_MS + YEAR_MS),
  userid: regexString('User_[1-9]'),
  regionid: regexString('Region_[1-9]'),
  gender: stringOption('MALE', 'FEMALE', 'OTHER'),
}

export const PEOPLE = {
  users: ['userid', recordOf('users', user)],
  users_: [
    'userid',
    recordOf('users', {
      ...user,
      interests: {
        type: 'array',
        items: stringOption('Chess', 'Cooking', 'Film', 'Hiking', 'Music', 'News', 'Travel'),
        'arg.properties': { length: { min: 1, max: 4 } },
      },
      contactinfo: {
        type: 'map',
        values: regexString('[A-Z][a-z]{5,9} [1-9]\\d'),
        'arg.properties': { length: { min: 1, max: 4 }, keys: { options: ['street', 'city', 'phone'] } },
      },
    }),
  ],
  pageviews: [
    'viewtime',
    recordOf('pageviews', {
      viewtime: iteration('long', 1, 10),
      userid: regexString('User_[1-9]'),
      pageid: regexString('Page_[1-9]\\d'),
    }),
  ],
  campaign_finance: [
    'time',
    recordOf('campaign_finance', {
      time: longRange(START_MS, START_MS + YEAR_MS),
      candidate_id: regexString('[HPS][0-9][A-Z]{2}[0-9]{5}'),
      party_affiliation: stringOption('DEM', 'REP', 'IND', 'GRE', 'LIB'),
      contribution: intRange(10, 10_000),
    }),
  ],
  gaming_games: [
    'id',
    recordOf('gaming_games', {
      id: intRange(1, 100),
      room_name: stringOption('Atrium', 'Boiler', 'Cellar', 'Docks', 'Engine', 'Foundry'),
      created_date: timestamps,
    }),
  ],
  gaming_players: [
    'player_id',
    recordOption(
      'gaming_players',
      'player_id:int player_name ip',
      numbered(
        nicknames.map((name, at) => [name, `198.51.100.${at + 1}`]),
        1_000,
      ),
    ),
  ],
  gaming_player_activity: [
    'player_id',
    recordOf('gaming_player_activity', {
      player_id: intRange(1_000, 1_000 + NAMES.length),
      game_room_id: intRange(1, 100),
      points: intRange(10, 500),
      coordinates: regexString('\\[[1-9]\\d,[1-9]\\d\\]'),
    }),
  ],
  insurance_offers: [
    'offer_id',
    recordOption(
      'insurance_offers',
      'offer_id:int offer_name offer_url',
      numbered(
        ['new_customer', 'stay', 'bundle', 'good_driver'].map((name) => [name, `https://example.org/offers/${name}`]),
      ),
    ),
  ],
  insurance_customers: [
    'customer_id',
    recordOption(
      'insurance_customers',
      'customer_id:int first_name last_name email gender income:int fico:int years_active:int',
      numbered(
        NAMES.map(([first, last, gender], at) => [
          ...[first, last, email(first, last), gender],
          ...[40_000 + at * 7_300, 580 + at * 21, 1 + (at % 9)],
        ]),
      ),
    ),
  ],
  insurance_customer_activity: [
    'activity_id',
    recordOf('insurance_customer_activity', {
      activity_id: iteration('int', 1),
      customer_id: intRange(1, NAMES.length + 1),
      activity_type: stringOption('web_open', 'mobile_open', 'new_account', 'claim', 'call'),
      propensity_to_churn: doubleRange(0, 1),
      ip_address: clientIp,
    }),
  ],
  payroll_employee: [
    'employee_id',
    recordOption(
      'payroll_employee',
      'employee_id:int first_name last_name age:int ssn hourly_rate:int gender email',
      numbered(
        NAMES.map(([first, last, gender], at) => [
          // Not valid social security numbers: the area number 000 is never assigned.
          ...[first, last, 22 + at * 3, `000-12-${1_000 + at}`, 18 + at * 2],
          ...[gender, email(first, last)],
        ]),
        1_000,
      ),
    ),
  ],
  payroll_employee_location: [
    'employee_id',
    recordOf('payroll_employee_location', {
      employee_id: intRange(1_000, 1_000 + NAMES.length),
      lab: regexString('Lab_[1-9]'),
      department_id: intRange(100, 200),
      arrival_date: days,
    }),
  ],
  payroll_bonus: [
    'employee_id',
    recordOf('payroll_bonus', {
      employee_id: intRange(1_000, 1_000 + NAMES.length),
      bonus: intRange(1_000, 10_000),
      ts: typeWithArguments('long', { range: { min: START_MS, max: START_MS + YEAR_MS } }, 'timestamp-millis'),
    }),
  ],
} as const satisfies Quickstarts

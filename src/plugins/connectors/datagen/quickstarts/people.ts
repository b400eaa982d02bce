import {
  clientIp,
  counted,
  day,
  double,
  email,
  type Fields,
  int,
  like,
  long,
  moment,
  NAMES,
  nicknames,
  numbered,
  oneOf,
  type Quickstarts,
  record,
  START_MS,
  text,
  word,
  YEAR_MS,
} from './notation.ts'

const user: Fields = {
  registertime: long(START_MS, START_MS + YEAR_MS),
  userid: text('User_[1-9]'),
  regionid: text('Region_[1-9]'),
  gender: word('MALE', 'FEMALE', 'OTHER'),
}

export const PEOPLE = {
  users: ['userid', record('users', user)],
  users_: [
    'userid',
    record('users', {
      ...user,
      interests: {
        type: 'array',
        items: word('Chess', 'Cooking', 'Film', 'Hiking', 'Music', 'News', 'Travel'),
        'arg.properties': { length: { min: 1, max: 4 } },
      },
      contactinfo: {
        type: 'map',
        values: text('[A-Z][a-z]{5,9} [1-9]\\d'),
        'arg.properties': { length: { min: 1, max: 4 }, keys: { options: ['street', 'city', 'phone'] } },
      },
    }),
  ],
  pageviews: [
    'viewtime',
    record('pageviews', {
      viewtime: counted('long', 1, 10),
      userid: text('User_[1-9]'),
      pageid: text('Page_[1-9]\\d'),
    }),
  ],
  campaign_finance: [
    'time',
    record('campaign_finance', {
      time: long(START_MS, START_MS + YEAR_MS),
      candidate_id: text('[HPS][0-9][A-Z]{2}[0-9]{5}'),
      party_affiliation: word('DEM', 'REP', 'IND', 'GRE', 'LIB'),
      contribution: int(10, 10_000),
    }),
  ],
  gaming_games: [
    'id',
    record('gaming_games', {
      id: int(1, 100),
      room_name: word('Atrium', 'Boiler', 'Cellar', 'Docks', 'Engine', 'Foundry'),
      created_date: moment,
    }),
  ],
  gaming_players: [
    'player_id',
    oneOf(
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
    record('gaming_player_activity', {
      player_id: int(1_000, 1_000 + NAMES.length),
      game_room_id: int(1, 100),
      points: int(10, 500),
      coordinates: text('\\[[1-9]\\d,[1-9]\\d\\]'),
    }),
  ],
  insurance_offers: [
    'offer_id',
    oneOf(
      'insurance_offers',
      'offer_id:int offer_name offer_url',
      numbered(
        ['new_customer', 'stay', 'bundle', 'good_driver'].map((name) => [name, `https://example.org/offers/${name}`]),
      ),
    ),
  ],
  insurance_customers: [
    'customer_id',
    oneOf(
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
    record('insurance_customer_activity', {
      activity_id: counted('int', 1),
      customer_id: int(1, NAMES.length + 1),
      activity_type: word('web_open', 'mobile_open', 'new_account', 'claim', 'call'),
      propensity_to_churn: double(0, 1),
      ip_address: clientIp,
    }),
  ],
  payroll_employee: [
    'employee_id',
    oneOf(
      'payroll_employee',
      'employee_id:int first_name last_name age:int ssn hourly_rate:int gender email',
      numbered(
        NAMES.map(([first, last, gender], at) => [
          // Never given to anybody: 000 is no area.
          ...[first, last, 22 + at * 3, `000-12-${1_000 + at}`, 18 + at * 2],
          ...[gender, email(first, last)],
        ]),
        1_000,
      ),
    ),
  ],
  payroll_employee_location: [
    'employee_id',
    record('payroll_employee_location', {
      employee_id: int(1_000, 1_000 + NAMES.length),
      lab: text('Lab_[1-9]'),
      department_id: int(100, 200),
      arrival_date: day,
    }),
  ],
  payroll_bonus: [
    'employee_id',
    record('payroll_bonus', {
      employee_id: int(1_000, 1_000 + NAMES.length),
      bonus: int(1_000, 10_000),
      ts: like('long', { range: { min: START_MS, max: START_MS + YEAR_MS } }, 'timestamp-millis'),
    }),
  ],
} as const satisfies Quickstarts

import {
  CITIES,
  clientIp,
  days,
  doubleRange,
  email,
  type Fields,
  intRange,
  iteration,
  longRange,
  NAMES,
  numbered,
  type Quickstarts,
  recordOf,
  recordOption,
  regexString,
  START_MS,
  stringOption,
  timestamps,
  typeWithArguments,
} from './schema-builder.ts'

const SHOES = [
  ['Northpeak', 'Ridge Runner', 8_995, 4.6],
  ['Northpeak', 'Ridge Runner Low', 7_995, 4.2],
  ['Solis', 'Harbour Slip', 5_495, 3.9],
  ['Solis', 'Harbour Court', 6_495, 4.1],
  ['Velka', 'Tempo 3', 12_995, 4.8],
  ['Velka', 'Tempo Trail', 13_995, 4.7],
  ['Marrow & Sons', 'Chelsea', 18_995, 4.4],
  ['Marrow & Sons', 'Brogue', 20_995, 4.0],
] as const
const shoeId = (at: number) => `shoe-${at + 1}`
const shoeIds = stringOption(...SHOES.map((_, at) => shoeId(at)))
const customerId = (at: number) => `customer-${at + 1}`
const customerIds = stringOption(...NAMES.map((_, at) => customerId(at)))
const pizza: Fields = { store_id: intRange(1, 100), store_order_id: iteration('int', 1_000), date: days }

export const TRADE = {
  orders: [
    'orderid',
    recordOf('orders', {
      ordertime: iteration('long', START_MS, 1_000),
      orderid: iteration('int', 0),
      itemid: regexString('Item_[1-9]\\d{0,2}'),
      orderunits: doubleRange(0.1, 10),
      address: recordOption('address', 'city state zipcode:long', CITIES),
    }),
  ],
  ratings: [
    'rating_id',
    recordOf('ratings', {
      rating_id: iteration('long', 1),
      user_id: intRange(1, 20),
      stars: intRange(1, 6),
      route_id: intRange(1, 10_000),
      rating_time: iteration('long', 1, 10),
      channel: stringOption('web', 'ios', 'ios-test', 'android', 'phone'),
      message: stringOption(
        'on time, again',
        'no room for my knees',
        'the crew was kind',
        'lost my bag',
        'would fly again',
      ),
    }),
  ],
  stock_trades: [
    'symbol',
    recordOf('StockTrade', {
      side: stringOption('BUY', 'SELL'),
      quantity: intRange(1, 5_000),
      symbol: regexString('Z(BZX|JZZT|TEST|VV|VZZT|WZZT|XZZT)'),
      price: intRange(5, 1_000),
      account: regexString('(ABC|LMN|XYZ)\\d{3}'),
      userid: regexString('User_[1-9]'),
    }),
  ],
  credit_cards: [
    'card_id',
    recordOption(
      'credit_cards',
      'card_id:int card_number:long cvv:int expiration_date',
      // Not valid card numbers: no issuer uses this prefix.
      numbered(NAMES.map((_, at) => [9_999_000_000_000_000 - at * 7_919, 100 + at * 37, `0${1 + (at % 9)}/29`])),
    ),
  ],
  transactions: [
    'transaction_id',
    recordOf('transactions', {
      transaction_id: iteration('long', 1),
      card_id: longRange(1, NAMES.length + 1),
      user_id: regexString('User_[1-9]'),
      purchase_id: iteration('long', 0),
      store_id: intRange(1, CITIES.length + 1),
    }),
  ],
  purchases: [
    'id',
    recordOf('purchase', {
      id: iteration('long', 0),
      item_type: stringOption('bread', 'coffee', 'cheese', 'soap', 'paper', 'apples'),
      quantity: longRange(1, 10),
      price_per_unit: {
        type: 'bytes',
        logicalType: 'decimal',
        precision: 6,
        scale: 2,
        'arg.properties': { range: { min: 0.5, max: 40 } },
      },
    }),
  ],
  stores: [
    'store_id',
    recordOption('stores', 'store_id:int city state', numbered(CITIES.map(([city, state]) => [city, state]))),
  ],
  inventory: [
    'id',
    recordOf('inventory', {
      id: iteration('long', 1),
      quantity: iteration('long', 1),
      productid: iteration('long', 1),
    }),
  ],
  product: [
    'id',
    recordOf('product', {
      id: iteration('long', 1),
      name: typeWithArguments('string', { iteration: { start: 1 }, prefix: 'Product_' }),
      description: typeWithArguments('string', { iteration: { start: 1 }, prefix: 'What is told of product ' }),
      price: doubleRange(1, 100),
    }),
  ],
  pizza_orders: [
    'store_id',
    recordOf('pizza_orders', {
      store_id: pizza['store_id']!,
      store_order_id: pizza['store_order_id']!,
      coupon_code: intRange(1_000, 2_000),
      date: pizza['date']!,
      status: stringOption('accepted'),
      order_lines: {
        type: 'array',
        items: recordOf('order_line', {
          product_id: intRange(1, 100),
          category: stringOption('pizza', 'calzone', 'salad', 'wings', 'dessert'),
          quantity: intRange(1, 6),
          unit_price: doubleRange(3, 22),
          net_price: doubleRange(3, 100),
        }),
        'arg.properties': { length: { min: 1, max: 6 } },
      },
    }),
  ],
  pizza_orders_completed: [
    'store_id',
    recordOf('pizza_orders_completed', {
      ...pizza,
      status: stringOption('completed'),
      rack_time_secs: intRange(10, 120),
      order_delivery_time_secs: intRange(300, 3_000),
    }),
  ],
  pizza_orders_cancelled: [
    'store_id',
    recordOf('pizza_orders_cancelled', { ...pizza, status: stringOption('cancelled') }),
  ],
  shoes: [
    'id',
    recordOption(
      'shoe_product',
      'id brand name sale_price:int rating:double',
      SHOES.map((shoe, at) => [shoeId(at), ...shoe]),
    ),
  ],
  shoe_customers: [
    'id',
    recordOption(
      'shoe_customers',
      'id first_name last_name email phone street_address state zip_code country country_code',
      NAMES.map(([first, last], at) => {
        const [, state, zip] = CITIES[at % CITIES.length]!
        const street = `${10 + at} Example Street`
        return [
          ...[customerId(at), first, last, email(first, last), `555-01${10 + at}`],
          ...[street, state, String(zip).padStart(5, '0'), 'United States', 'US'],
        ]
      }),
    ),
  ],
  shoe_orders: [
    'order_id',
    recordOf('shoe_orders', {
      order_id: iteration('int', 1_000),
      product_id: shoeIds,
      customer_id: customerIds,
      ts: timestamps,
    }),
  ],
  shoe_clickstream: [
    'product_id',
    recordOf('shoe_clickstream', {
      product_id: shoeIds,
      user_id: customerIds,
      view_time: intRange(10, 120),
      page_url: regexString('https://shop\\.example\\.org/shoes/[a-z]{5}'),
      ip: clientIp,
      ts: timestamps,
    }),
  ],
} as const satisfies Quickstarts

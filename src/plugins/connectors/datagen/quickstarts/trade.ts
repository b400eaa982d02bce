import {
  CITIES,
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
  numbered,
  oneOf,
  type Quickstarts,
  record,
  START_MS,
  text,
  word,
} from './notation.ts'

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
const shoeIds = word(...SHOES.map((_, at) => shoeId(at)))
const customerId = (at: number) => `customer-${at + 1}`
const customerIds = word(...NAMES.map((_, at) => customerId(at)))
const pizza: Fields = { store_id: int(1, 100), store_order_id: counted('int', 1_000), date: day }

export const TRADE = {
  orders: [
    'orderid',
    record('orders', {
      ordertime: counted('long', START_MS, 1_000),
      orderid: counted('int', 0),
      itemid: text('Item_[1-9]\\d{0,2}'),
      orderunits: double(0.1, 10),
      address: oneOf('address', 'city state zipcode:long', CITIES),
    }),
  ],
  ratings: [
    'rating_id',
    record('ratings', {
      rating_id: counted('long', 1),
      user_id: int(1, 20),
      stars: int(1, 6),
      route_id: int(1, 10_000),
      rating_time: counted('long', 1, 10),
      channel: word('web', 'ios', 'ios-test', 'android', 'phone'),
      message: word('on time, again', 'no room for my knees', 'the crew was kind', 'lost my bag', 'would fly again'),
    }),
  ],
  stock_trades: [
    'symbol',
    record('StockTrade', {
      side: word('BUY', 'SELL'),
      quantity: int(1, 5_000),
      symbol: text('Z(BZX|JZZT|TEST|VV|VZZT|WZZT|XZZT)'),
      price: int(5, 1_000),
      account: text('(ABC|LMN|XYZ)\\d{3}'),
      userid: text('User_[1-9]'),
    }),
  ],
  credit_cards: [
    'card_id',
    oneOf(
      'credit_cards',
      'card_id:int card_number:long cvv:int expiration_date',
      // No issuer gives numbers that begin so.
      numbered(NAMES.map((_, at) => [9_999_000_000_000_000 - at * 7_919, 100 + at * 37, `0${1 + (at % 9)}/29`])),
    ),
  ],
  transactions: [
    'transaction_id',
    record('transactions', {
      transaction_id: counted('long', 1),
      card_id: long(1, NAMES.length + 1),
      user_id: text('User_[1-9]'),
      purchase_id: counted('long', 0),
      store_id: int(1, CITIES.length + 1),
    }),
  ],
  purchases: [
    'id',
    record('purchase', {
      id: counted('long', 0),
      item_type: word('bread', 'coffee', 'cheese', 'soap', 'paper', 'apples'),
      quantity: long(1, 10),
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
    oneOf('stores', 'store_id:int city state', numbered(CITIES.map(([city, state]) => [city, state]))),
  ],
  inventory: [
    'id',
    record('inventory', { id: counted('long', 1), quantity: counted('long', 1), productid: counted('long', 1) }),
  ],
  product: [
    'id',
    record('product', {
      id: counted('long', 1),
      name: like('string', { iteration: { start: 1 }, prefix: 'Product_' }),
      description: like('string', { iteration: { start: 1 }, prefix: 'What is told of product ' }),
      price: double(1, 100),
    }),
  ],
  pizza_orders: [
    'store_id',
    record('pizza_orders', {
      store_id: pizza['store_id']!,
      store_order_id: pizza['store_order_id']!,
      coupon_code: int(1_000, 2_000),
      date: pizza['date']!,
      status: word('accepted'),
      order_lines: {
        type: 'array',
        items: record('order_line', {
          product_id: int(1, 100),
          category: word('pizza', 'calzone', 'salad', 'wings', 'dessert'),
          quantity: int(1, 6),
          unit_price: double(3, 22),
          net_price: double(3, 100),
        }),
        'arg.properties': { length: { min: 1, max: 6 } },
      },
    }),
  ],
  pizza_orders_completed: [
    'store_id',
    record('pizza_orders_completed', {
      ...pizza,
      status: word('completed'),
      rack_time_secs: int(10, 120),
      order_delivery_time_secs: int(300, 3_000),
    }),
  ],
  pizza_orders_cancelled: ['store_id', record('pizza_orders_cancelled', { ...pizza, status: word('cancelled') })],
  shoes: [
    'id',
    oneOf(
      'shoe_product',
      'id brand name sale_price:int rating:double',
      SHOES.map((shoe, at) => [shoeId(at), ...shoe]),
    ),
  ],
  shoe_customers: [
    'id',
    oneOf(
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
    record('shoe_orders', {
      order_id: counted('int', 1_000),
      product_id: shoeIds,
      customer_id: customerIds,
      ts: moment,
    }),
  ],
  shoe_clickstream: [
    'product_id',
    record('shoe_clickstream', {
      product_id: shoeIds,
      user_id: customerIds,
      view_time: int(10, 120),
      page_url: text('https://shop\\.example\\.org/shoes/[a-z]{5}'),
      ip: clientIp,
      ts: moment,
    }),
  ],
} as const satisfies Quickstarts

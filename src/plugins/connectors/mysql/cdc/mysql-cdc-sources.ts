import { defineMysqlCdcSource } from './mysql-cdc-source.ts'

/** Writes the changes of MySQL tables to topics, with the configuration keys, events and offsets of Debezium. */
export const mysqlCdcSource = defineMysqlCdcSource('mysql')

/** The same for MariaDB. */
export const mariadbCdcSource = defineMysqlCdcSource('mariadb')

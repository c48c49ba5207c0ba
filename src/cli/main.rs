fn main() {
    println!("operatorscope");
}
